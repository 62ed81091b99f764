#include "front/train_options.h"
#include "front/run_cost_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include "answers/train_memory.h"
#include "base/input_error.h"
#include "front/step_options.h"
#include "input/device_catalogue.h"
#include "input/device_row.h"
#include "input/lora_text.h"

namespace foretell {
namespace {

constexpr double kMostGib = 1e6;
// Kernels of a card that names no capability of CUDA's.
constexpr int kAssumedCapability = 90;

class Reader {
 public:
  explicit Reader(const Invocation& line) : line_(line) {}

  TrainRequest Read() {
    StepSetting setting = ReadStepSetting(line_);
    out_.build = std::move(setting.build);
    TrainingJob& job = out_.job;
    job.step = std::move(setting.step);
    job.step.mode = StepMode::kTrain;
    job.step.holds_output = Word("loop") == "hold";
    ReadCard();
    ReadMethod();
    ReadLoss();
    ReadKernels();
    ReadLayout();
    ReadBatch();
    ReadPacking();
    if (!errors_.empty()) throw InputErrors(std::move(errors_));
    out_.costs = ReadRunCosts(line_, out_.device);
    return std::move(out_);
  }

 private:
  std::string Word(std::string_view option) const {
    return line_.Text(option).value_or("");
  }

  void Fail(std::string_view option, std::string what, std::string cure) {
    errors_.push_back(
        {line_.PlaceOf(option), std::move(what), std::move(cure)});
  }

  void ReadCard() {
    if (const auto name = line_.Text("gpu")) {
      try {
        out_.device = FindDevice(*name, line_.PlaceOf("gpu"));
      } catch (const InputErrors& errors) {
        for (const InputError& error : errors.errors()) {
          errors_.push_back(error);
        }
      }
    }
    if (const auto text = line_.Text("gpu-mem")) ReadMemory(*text);
    if (!line_.Has("gpu") && !line_.Has("gpu-mem") && !line_.Has("fits")) {
      Fail("gpu", "no card is named",
           "write --gpu h100, or its memory: --gpu-mem 24");
    }
    out_.job.step.capability = out_.device.capability > 0
                                   ? out_.device.capability
                                   : kAssumedCapability;
  }

  // Nothing where it is none, which is told.
  std::optional<double> GibOf(std::string_view option,
                              const std::string& text) {
    char* end = nullptr;
    const double gib = std::strtod(text.c_str(), &end);
    if (text.empty() || *end != '\0' || !std::isfinite(gib) || gib <= 0 ||
        gib > kMostGib) {
      Fail(option, fmt::format("--{} is no number of GiB: {}", option, text),
           "write a number such as 24 or 79.2");
      return std::nullopt;
    }
    return gib;
  }

  void ReadMemory(const std::string& text) {
    const auto gib = GibOf("gpu-mem", text);
    if (!gib) return;
    const Device stated = DeviceOfMemory(*gib);
    if (!line_.Has("gpu")) out_.device = stated;
    out_.device.total = stated.total;
  }

  void ReadMethod() {
    TrainingJob& job = out_.job;
    const std::string method = Word("method");
    const std::string weights = Word("weights");
    if (weights == "nf4") job.weights = WeightFormat::kNf4;
    if (weights == "int8") job.weights = WeightFormat::kInt8;
    if (weights == "gptq") job.weights = WeightFormat::kGptq4;
    if (method == "qlora" && job.weights == WeightFormat::kNone) {
      job.weights = WeightFormat::kNf4;
    }
    job.double_quant = !line_.Has("no-double-quant");
    job.prepared_float32 = line_.Has("prepare-kbit");
    job.master_weights = line_.Has("master-weights");
    if (method == "full") {
      RefuseAdapterOptions();
      if (job.weights != WeightFormat::kNone) {
        Fail("weights", "packed weights cannot train",
             "write --method qlora, or leave --weights out");
      }
    } else {
      const LoraText lora =
          ReadLora(fmt::format("r={},targets={},adapter={}", Word("rank"),
                               Word("targets"), Word("adapter")));
      job.step.lora = lora.settings;
      ReadVariant();
      if (!lora.settings) Fail("targets", "--targets: " + lora.what, lora.cure);
    }
    const auto others = OptimizersOfOtherLibraries();
    if (std::ranges::find(others, job.step.optimizer) != others.end()) {
      job.optimizer = std::exchange(job.step.optimizer, "none");
    }
  }

  void ReadVariant() {
    if (!out_.job.step.lora) return;
    LoraSettings& lora = *out_.job.step.lora;
    lora.dora = line_.Has("dora");
    lora.rank_stabilized = line_.Has("rslora");
    std::string names = Word("saved-modules");
    std::ranges::replace(names, ',', '+');
    while (!names.empty()) {
      const size_t plus = std::min(names.find('+'), names.size());
      if (plus == 0) {
        return Fail("saved-modules", "--saved-modules: a name is empty",
                    "write such as lm_head+embed_tokens");
      }
      lora.saved.push_back(names.substr(0, plus));
      names.erase(0, plus + 1);
    }
  }

  // With pairs trl takes the head and the log-probabilities together, in
  // chunks, where it has a reference, and all logits where it has none.
  void ReadLoss() {
    TrainingJob& job = out_.job;
    const std::string loss = Word("loss");
    if (loss == "fused") job.loss = LossKind::kFused;
    if (loss == "chunked") job.loss = LossKind::kChunked;
    const std::string preference = Word("preference");
    if (preference == "dpo") job.preference = Preference::kDpo;
    if (preference == "kto") job.preference = Preference::kKto;
    if (preference == "orpo") job.preference = Preference::kOrpo;
    if (preference == "simpo") job.preference = Preference::kSimpo;
    const bool compares = job.preference == Preference::kDpo ||
                          job.preference == Preference::kKto;
    const std::string reference = Word("reference");
    if (!reference.empty() && !compares) {
      return Fail("reference",
                  job.preference == Preference::kNone
                      ? "--reference is of --preference dpo and kto"
                      : fmt::format("{} compares with nothing", preference),
                  "leave --reference out");
    }
    if (!compares) return;
    if (!line_.Has("loss")) job.loss = LossKind::kChunked;
    if (job.step.lora) job.reference = Reference::kAdapterOff;
    if (reference == "model") job.reference = Reference::kModel;
    if (reference == "precomputed") job.reference = Reference::kPrecomputed;
    if (reference == "adapter-off" && !job.step.lora) {
      Fail("reference", "there are no adapters to switch off",
           "write --method lora, or --reference model");
    }
  }

  void ReadKernels() {
    TrainingJob& job = out_.job;
    const std::string kernels = Word("kernels");
    if (kernels == "liger") job.kernels = FusedKernels::kLiger;
    if (kernels == "unsloth") job.kernels = FusedKernels::kUnsloth;
    job.compiled = line_.Has("compile");
    if (job.compiled && kernels != "library") {
      Fail("compile", "the compiler fuses what --kernels replaces",
           "leave one of them out");
    }
    const std::string fp8 = Word("fp8");
    if (fp8 == "te") job.fp8 = Fp8::kTransformerEngine;
    if (fp8 == "torchao") job.fp8 = Fp8::kTorchao;
    if (job.fp8 == Fp8::kNone) return;
    constexpr int kFirstWithFp8 = 89;
    if (job.step.capability < kFirstWithFp8) {
      Fail("fp8",
           fmt::format("{} has no products of 8-bit floats", out_.device.name),
           "leave --fp8 out; cards from Ada and Hopper on have them");
    }
    if (job.weights != WeightFormat::kNone) {
      Fail("fp8", "packed weights are unpacked to half precision",
           "leave --fp8 out");
    }
  }

  void ReadPacking() {
    StepCase& step = out_.job.step;
    const std::string packing = Word("packing");
    const auto mean = line_.Integer("mean-seq");
    if (packing != "padding-free") {
      if (mean) {
        Fail("mean-seq", "only a row without padding has a mean length",
             "write --packing padding-free");
      }
      return;
    }
    if (!IsFlash(step)) {
      return Fail("packing",
                  fmt::format("{} attention does not tell the samples of one "
                              "row apart",
                              step.attention),
                  "write --attn flash2");
    }
    out_.job.padding_free = true;
    out_.job.mean_sequence =
        std::min(mean.value_or(step.sequence), step.sequence);
  }

  void RefuseAdapterOptions() {
    for (const std::string_view option :
         {"rank", "targets", "adapter", "prepare-kbit", "dora", "rslora",
          "saved-modules"}) {
      if (!line_.Has(option)) continue;
      Fail(option,
           fmt::format("--{} is of adapters, and --method is full", option),
           "write --method lora");
    }
  }

  void ReadLayout() {
    TrainingJob& job = out_.job;
    job.gpus = *line_.Integer("gpus");
    const auto fsdp = line_.Text("fsdp");
    const auto zero = line_.Text("zero");
    if (fsdp && zero) {
      Fail("zero", "--fsdp and --zero divide the same things",
           "leave one of them out");
    }
    if (fsdp) job.sharding = *fsdp == "1" ? Sharding::kFsdp1 : Sharding::kFsdp2;
    if (zero) {
      constexpr Sharding kStages[] = {Sharding::kDdp, Sharding::kZero1,
                                      Sharding::kZero2, Sharding::kZero3};
      job.sharding = kStages[(*zero)[0] - '0'];
    }
    if (job.gpus > 1 && job.sharding == Sharding::kNone) {
      job.sharding = Sharding::kDdp;
    }
    if (job.gpus == 1 && (fsdp || (zero && *zero != "0"))) {
      Fail(fsdp ? "fsdp" : "zero", "one card divides nothing",
           "write --gpus N");
    }
    job.reduces_each = Word("sync") != "last";
    if (fsdp && job.master_weights) job.reduce_dtype = DType::kFloat32;
    const std::string offload = Word("offload");
    if (offload == "optimizer") job.offload = Offload::kOptimizer;
    if (offload == "parameters") job.offload = Offload::kParameters;
    if (offload == "activations") job.offload = Offload::kActivations;
    job.workers = line_.Integer("workers").value_or(0);
    if (const auto text = line_.Text("host-mem")) {
      out_.host_gib = GibOf("host-mem", *text);
    }
  }

  void ReadBatch() {
    TrainingJob& job = out_.job;
    job.eval_batch = line_.Integer("eval-batch").value_or(0);
    job.eval_batches = line_.Integer("eval-batches").value_or(0);
    out_.global_batch = line_.Integer("global-batch");
    job.accumulate = line_.Integer("accumulate").value_or(1);
    CheckGlobalBatch();
    job.optimizer_in_backward = line_.Has("optimizer-in-backward");
    if (job.optimizer_in_backward && job.accumulate > 1) {
      Fail("optimizer-in-backward",
           fmt::format("gradients of {} micro-steps are added up, and none is "
                       "let go before the last",
                       job.accumulate),
           "write --accumulate 1");
    }
  }

  void CheckGlobalBatch() {
    TrainingJob& job = out_.job;
    if (!out_.global_batch) return;
    const int64_t at_once = job.step.batch * job.gpus;
    const int64_t global = *out_.global_batch;
    if (line_.Has("accumulate")) {
      if (at_once * job.accumulate != global) {
        Fail("global-batch",
             fmt::format("{} cards times {} sequences times {} micro-steps are "
                         "not {}",
                         job.gpus, job.step.batch, job.accumulate, global),
             "leave --accumulate out, and it is worked out");
      }
      return;
    }
    if (global % at_once != 0) {
      return Fail("global-batch",
                  fmt::format("{} does not divide by {} cards times {} "
                              "sequences",
                              global, job.gpus, job.step.batch),
                  fmt::format("write a multiple of {}", at_once));
    }
    job.accumulate = global / at_once;
  }

  const Invocation& line_;
  TrainRequest out_;
  std::vector<InputError> errors_;
};

}  // namespace

TrainRequest ReadTrainRequest(const Invocation& invocation) {
  return Reader(invocation).Read();
}

}  // namespace foretell
