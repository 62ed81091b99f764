#include "front/train_options.h"

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
    ReadLayout();
    ReadBatch();
    if (!errors_.empty()) throw InputErrors(std::move(errors_));
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

  void ReadMemory(const std::string& text) {
    char* end = nullptr;
    const double gib = std::strtod(text.c_str(), &end);
    if (text.empty() || *end != '\0' || !std::isfinite(gib) || gib <= 0 ||
        gib > kMostGib) {
      return Fail("gpu-mem", "--gpu-mem is no number of GiB: " + text,
                  "write a number such as 24 or 79.2");
    }
    const Device stated = DeviceOfMemory(gib);
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
      if (!lora.settings) Fail("targets", "--targets: " + lora.what, lora.cure);
    }
    const std::string loss = Word("loss");
    if (loss == "fused") job.loss = LossKind::kFused;
    if (loss == "chunked") job.loss = LossKind::kChunked;
    const auto others = OptimizersOfOtherLibraries();
    if (std::ranges::find(others, job.step.optimizer) != others.end()) {
      job.optimizer = std::exchange(job.step.optimizer, "none");
    }
  }

  void RefuseAdapterOptions() {
    for (const std::string_view option :
         {"rank", "targets", "adapter", "prepare-kbit"}) {
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
    const std::string offload = Word("offload");
    if (offload == "optimizer") job.offload = Offload::kOptimizer;
    if (offload == "parameters") job.offload = Offload::kParameters;
  }

  void ReadBatch() {
    TrainingJob& job = out_.job;
    out_.global_batch = line_.Integer("global-batch");
    job.accumulate = line_.Integer("accumulate").value_or(1);
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
