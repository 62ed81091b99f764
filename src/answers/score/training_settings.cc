#include "answers/score/training_settings.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "answers/score/training_defaults.h"
#include "base/library.h"

namespace foretell {
namespace {

// What a block keeps of what it would keep without recomputing, where half of
// its products are kept; and what a compiled one keeps, which recomputes what
// is cheap of its own accord.
// Source: runs of torchtitan with and without, Llama 2 7B and Llama 3 8B.
constexpr double kSelectiveKeeps = 0.33;
constexpr double kSelectiveKeepsCompiled = 0.28;
constexpr double kCompiledKeeps = 0.75;
// Doubts about what is followed in its outline only.
// Source: nine of ten measured runs of each kind lie within about as much.
constexpr double kDoubtOfParallelism = 0.3;
constexpr double kDoubtOfMethods = 0.2;
constexpr double kDoubtOfDefaults = 0.25;

bool Holds(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// GPT-BigCode does not leave its cache out where blocks are checkpointed, as
// other classes do; what it returns, logits and cache, then lives until the
// backward has run.
// Source: transformers 4.48, modeling_gpt_bigcode.py (forward keeps `presents`
// whatever is checkpointed). Measured: a half-precision copy of the logits and
// a float32 one under autocast, the cache's 12 kB a token beside.
bool HoldsOutput(const ScoreInput& input) {
  if (input.config == nullptr) return false;
  const ConfigValue* type = FieldAt(input.config->root, "model_type");
  return type != nullptr && type->AsString() == "gpt_bigcode";
}

class Reader {
 public:
  explicit Reader(const ScoreInput& input)
      : input_(input), settings_(input.settings) {
    if (input.device != nullptr && input.device->capability > 0) {
      job().step.capability = input.device->capability;
    }
    framework_ = Text("framework");
  }

  std::variant<RecordedRun, LeftOut> Read() {
    ReadVersion();
    ReadSizes();
    ReadSharding();
    ReadPrecision();
    ReadOptimizer();
    ReadActivations();
    ReadMethod();
    ReadLoss();
    job().step.mode = StepMode::kTrain;
    job().step.holds_output = HoldsOutput(input_);
    // transformers 4 has a module for each expert, and runs them in turn.
    job().experts_are_linear = !job().step.transformers.starts_with("5");
    if (job().experts_are_linear) job().step.experts = "eager";
    if (!missing_.empty()) return LeftOut{missing_};
    return run_;
  }

 private:
  TrainingJob& job() { return run_.job; }

  std::string Text(std::string_view path) const {
    return settings_.Text(path).value_or("");
  }

  bool IsTool(std::string_view name) const { return Holds(framework_, name); }

  // The first thing that is missing is the reason.
  void Missing(std::string what) {
    if (missing_.empty()) missing_ = std::move(what);
  }

  void Doubt(double doubt) { run_.doubt = std::max(run_.doubt, doubt); }

  // "…, transformers 4.48.1, …"; else the newest at the record's date.
  void ReadVersion() {
    constexpr std::string_view kName = "transformers ";
    const std::string dated = TransformersAt(Text("source.date"));
    if (!dated.empty()) job().step.transformers = dated;
    const size_t at = framework_.find(kName);
    if (at == std::string::npos) return;
    const std::string rest = framework_.substr(at + kName.size());
    const size_t end = rest.find_first_not_of("0123456789.");
    const std::string version = rest.substr(0, end);
    if (ParseLibraryVersion(version)) job().step.transformers = version;
  }

  void ReadSizes() {
    auto batch = settings_.Integer("micro_batch");
    auto sequence = settings_.Integer("seq_len");
    const auto mean = settings_.Real("extra.mean_tokens_per_sample");
    run_.sizes = SizesOfTool(framework_, Text("source.date"));
    if (mean && sequence) {
      // Packed, or all cut at the same length.
      constexpr double kFull = 0.95;
      const bool full = *mean >= kFull * static_cast<double>(*sequence);
      if (full) run_.sizes = BatchSizes::kOne;
    }
    const SizesByDefault usual = DefaultSizesOf(framework_);
    if (!batch && usual.batch > 0) {
      batch = usual.batch;
      Doubt(kDoubtOfDefaults);
    }
    if (!sequence && usual.sequence > 0) {
      sequence = usual.sequence;
      Doubt(kDoubtOfDefaults);
    }
    if (!sequence) {
      // Where the optimizer's step is the peak no length matters.
      constexpr int64_t kLong = 4096;
      sequence = kLong;
      run_.has_length = false;
      run_.sizes = BatchSizes::kMany;
    }
    if (!batch || *batch < 1) return Missing("no micro-batch is stated");
    if (!sequence || *sequence < 1) return Missing("no length is stated");
    job().step.batch = *batch;
    job().step.sequence = *sequence;
    job().accumulate =
        std::max<int64_t>(1, settings_.Integer("grad_accum").value_or(1));
  }

  // A card's part of the tokens.
  void DivideTokens(int64_t parts) {
    if (parts <= 1) return;
    job().step.sequence = std::max<int64_t>(1, job().step.sequence / parts);
    Doubt(kDoubtOfParallelism);
  }

  bool Compiled() const { return settings_.Flag("compile").value_or(false); }

  int64_t PartsOf(std::string_view name) const {
    const std::string path = "sharding." + std::string(name);
    return std::max<int64_t>(1, settings_.Integer(path).value_or(1));
  }

  void ReadSharding() {
    const std::string kind = Text("sharding.kind");
    job().gpus = settings_.Integer("sharding.degree")
                     .value_or(settings_.Integer("gpu_count").value_or(1));
    if (kind.empty() || kind == "none") {
      job().gpus = 1;
      return;
    }
    DivideTokens(PartsOf("cp"));
    DivideTokens(PartsOf("sp"));
    DivideTokens(PartsOf("sequence_parallel"));
    if (kind == "ddp") {
      job().sharding = Sharding::kDdp;
    } else if (kind == "zero1" || kind == "deepspeed") {
      job().sharding = Sharding::kZero1;
    } else if (kind == "zero2") {
      job().sharding = Sharding::kZero2;
    } else if (kind.starts_with("zero3")) {
      job().sharding = Sharding::kZero3;
    } else if (kind == "fsdp" || kind == "fsdp+ep" || kind == "fsdp+tp" ||
               kind == "fsdp+cp" || kind == "fsdp+tp+cp") {
      ReadFsdp(kind);
    } else {
      return Missing("a division of another kind: " + kind);
    }
    const ShardingByDefault usual =
        ShardingOfTool(framework_, Text("source.date"));
    job().reduces_each = usual.reduces_each;
    job().has_end_units = usual.has_end_units;
    job().frozen_apart = usual.frozen_apart;
    if (usual.reduces_wide) job().reduce_dtype = DType::kFloat32;
    if (job().gpus < 1) Missing("no number of cards is stated");
    if (job().gpus == 1) job().sharding = Sharding::kNone;
  }

  void ReadFsdp(const std::string& kind) {
    const bool second = Holds(Text("sharding.version"), "2") ||
                        IsTool("torchtitan") || IsTool("torchtune");
    job().sharding = second ? Sharding::kFsdp2 : Sharding::kFsdp1;
    if (kind == "fsdp") return;
    Doubt(kDoubtOfParallelism);
    DivideTokens(PartsOf("tp"));
    if (settings_.Integer("sharding.fsdp")) {
      job().gpus = PartsOf("fsdp") * PartsOf("tp") * PartsOf("cp");
    }
  }

  void ReadPrecision() {
    const std::string name = Text("precision_class");
    StepCase& step = job().step;
    const bool divides = job().sharding == Sharding::kFsdp1 ||
                         job().sharding == Sharding::kFsdp2 ||
                         job().sharding == Sharding::kZero3;
    const DType half = Holds(name, "fp16") ? DType::kFloat16 : DType::kBFloat16;
    const std::string quant = Text("quant");
    const bool packed = !quant.empty() && quant != "none";
    if (name == "bf16_pure" || name == "fp16_pure" ||
        name == "bf16_unspecified" || name == "fp16_unspecified") {
      step.dtype = half;
    } else if (name == "amp_bf16_on_bf16_weights" ||
               name == "fp16_mixed_on_fp16_weights") {
      step.dtype = half;
      step.autocast = half;
      // accelerate lifts what trains to float32 before FSDP flattens it.
      job().float32_shares = job().sharding == Sharding::kFsdp1;
    } else if (name == "fp16_mixed" || name == "amp_bf16_on_fp32_weights" ||
               name == "bf16_compute_fp32_params" || name == "fp8" ||
               name == "fp4") {
      step.dtype = divides || packed ? half : DType::kFloat32;
      job().float32_shares = divides;
      if (!divides) step.autocast = half;
    } else if (name == "bf16_fp32_master" || name == "fp16_fp32_master") {
      step.dtype = half;
      job().master_weights = true;
    } else if (name == "fp32") {
      step.dtype = DType::kFloat32;
    } else if (name == "other" && settings_.Get("lora") != nullptr) {
      // What trains is small; the rest is in half precision.
      step.dtype = half;
      Doubt(kDoubtOfMethods);
    } else if (name.empty()) {
      Missing("no precision is stated");
    } else {
      Missing("a precision of another kind: " + name);
    }
    if (IsDeepSpeed()) UseDeepSpeedPrecision();
  }

  bool IsDeepSpeed() const {
    const Sharding sharding = run_.job.sharding;
    return IsTool("DeepSpeed") || sharding == Sharding::kZero1 ||
           sharding == Sharding::kZero2 || sharding == Sharding::kZero3;
  }

  // DeepSpeed casts the whole module to half precision, holds a float32 copy of
  // what trains, and accelerate lays no autocast over it.
  // Source: deepspeed 0.14 to 0.18, runtime/engine.py, bf16_optimizer.py;
  // accelerate, Accelerator._prepare_deepspeed.
  void UseDeepSpeedPrecision() {
    StepCase& step = job().step;
    if (step.dtype == DType::kFloat32 && !step.autocast) return;
    if (step.dtype == DType::kFloat32) step.dtype = *step.autocast;
    step.autocast.reset();
    job().float32_shares = false;
    job().master_weights = settings_.Flag("master_weights").value_or(true);
  }

  void ReadOptimizer() {
    const std::string name = Text("optimizer");
    const auto known = OptimizerOf(name.empty() ? "adamw" : name);
    if (name.empty()) Doubt(kDoubtOfDefaults);
    if (!known) return Missing("an optimizer of another kind: " + name);
    job().step.optimizer = known->step;
    job().optimizer = known->rule;
    run_.steps_in_backward = Holds(name, "in backward");
    // DeepSpeed steps with its own fused kernel.
    if (IsDeepSpeed() && known->step == "adamw_foreach") {
      job().step.optimizer = "adamw_fused";
    }
    const std::string offload = Text("offload");
    if (Holds(offload, "%")) {
      return Missing("an offload of another kind: " + offload);
    }
    run_.keeps_on_host = Holds(offload, "activation");
    if (run_.keeps_on_host) Doubt(kDoubtOfMethods);
    if (offload.starts_with("cpu +") || offload == "cpu" ||
        Holds(offload, "param")) {
      job().offload = Offload::kParameters;
    } else if (Holds(offload, "optimizer") || Holds(name, "offload")) {
      job().offload = Offload::kOptimizer;
    }
  }

  void ReadActivations() {
    const std::string kind = Text("gc_class");
    if (kind == "full") {
      job().step.checkpoint = true;
    } else if (kind.empty()) {
      job().step.checkpoint = RecomputesByDefault(framework_);
      Doubt(kDoubtOfDefaults);
    } else if (kind == "selective") {
      job().step.checkpoint = true;
      run_.kept = Compiled() ? kSelectiveKeepsCompiled : kSelectiveKeeps;
      Doubt(kDoubtOfMethods);
    } else if (kind == "none" && Compiled()) {
      job().step.checkpoint = true;
      run_.kept = kCompiledKeeps;
      Doubt(kDoubtOfMethods);
    } else if (kind != "none") {
      Missing("a recomputation of another kind: " + kind);
    }
    const std::string attention = Text("attention_impl");
    job().step.attention = "sdpa";
    if (attention == "eager") job().step.attention = "eager";
    if (Holds(attention, "flash") || Holds(attention, "unsloth")) {
      job().step.attention = "flash2";
    }
  }

  void ReadMethod() {
    const std::string quant = Text("quant");
    if (Holds(quant, "nf4") || quant == "fp4" || quant == "4bit") {
      job().weights = WeightFormat::kNf4;
      job().double_quant = Holds(quant, "dq") || quant == "4bit";
    } else if (quant == "gptq-int4" || quant == "awq-int4" || quant == "int4") {
      job().weights = WeightFormat::kGptq4;
    } else if (quant == "int8" || quant == "int8 weights") {
      job().weights = WeightFormat::kInt8;
    } else if (!quant.empty() && quant != "none") {
      Missing("weights of another kind: " + quant);
    }
    std::string task = Text("task");
    ReadPreference(task);
    if (task.starts_with("peft:")) return ReadOtherAdapter();
    if (settings_.Get("lora") == nullptr) {
      if (task != "full_ft" && task != "pretrain") {
        Missing("a method of another kind: " + task);
      } else if (job().weights != WeightFormat::kNone) {
        Missing("what trains beside packed weights is not stated");
      }
      return;
    }
    if (task != "lora" && task != "qlora") {
      return Missing("a method of another kind: " + task);
    }
    ReadAdapters();
  }

  // "dpo-full", "orpo-lora": pairs, and a model to compare with.
  void ReadPreference(std::string& task) {
    const size_t dash = task.rfind('-');
    if (dash == std::string::npos) return;
    const std::string name = task.substr(0, dash);
    const std::string method = task.substr(dash + 1);
    const bool has_reference = name == "dpo" || name == "kto";
    if (!has_reference && name != "orpo" && name != "simpo") return;
    // An odd reference answer of its own batch is beside each of KTO's.
    job().step.batch *= 2;
    if (has_reference && method == "full") run_.reference_models = 1;
    task = method == "full" ? "full_ft" : method;
    Doubt(kDoubtOfMethods);
  }

  // Another kind of adapter lets gradients through all of the model, as
  // low-rank ones of the attention do; its own part is small beside it.
  void ReadOtherAdapter() {
    LoraSettings lora;
    lora.targets = DefaultTargets();
    lora.float32 = job().step.autocast.has_value() || IsTool("peft");
    job().step.lora = std::move(lora);
    Doubt(kDoubtOfMethods);
    ReadLitgpt();
  }

  void ReadAdapters() {
    LoraSettings lora;
    const auto rank = settings_.Integer("lora.rank");
    if (!rank) Doubt(kDoubtOfMethods);
    lora.rank = rank.value_or(lora.rank);
    if (lora.rank < 1) return Missing("no rank of adapters is stated");
    const ConfigValue* targets = settings_.Get("lora.targets");
    if (targets != nullptr && targets->is_array()) {
      for (const ConfigValue& target : targets->items()) {
        const auto name = target.AsString();
        if (!name) continue;
        for (const std::string_view module : ModulesOf(framework_, *name)) {
          lora.targets.emplace_back(module);
        }
      }
    } else {
      lora.targets = DefaultTargets();
      Doubt(kDoubtOfMethods);
    }
    // peft makes adapters of a half-precision model float32; trainers that run
    // purely in half precision cast them back.
    lora.float32 =
        job().step.autocast.has_value() || framework_.starts_with("peft");
    job().step.lora = std::move(lora);
    ReadLitgpt();
  }

  // Its scripts of 2023 begin with the longest sample, later ones do not.
  void ReadLitgpt() {
    if (!IsTool("litgpt") || job().step.checkpoint || job().gpus > 1) return;
    // Its blocks are counted in half precision throughout.
    if (job().step.autocast || job().step.dtype == DType::kFloat32) return;
    run_.litgpt = LitgptMethodOf(Text("task"));
    const std::string date = Text("source.date");
    run_.longest_first = !date.empty() && date < "2024";
  }

  // It loads what is not packed in float32, which every product then returns.
  // Source: universal-llm-trainer, src/models/*.py (`dtype` where `bit` is 4 or
  // 8; forward computes the loss of a slice of the logits in their own dtype),
  // src/trainer/trainer.py; bitsandbytes, nn/modules.py (Linear4bit.forward
  // returns its input's dtype).
  void UseOwnLoop() {
    run_.own_loss = true;
    if (job().weights == WeightFormat::kNone) return;
    job().step.dtype = DType::kFloat32;
    job().step.autocast.reset();
  }

  void ReadLoss() {
    if (IsTool("universal-llm-trainer")) UseOwnLoop();
    const std::string loss = Text("fused_loss");
    if (loss.empty()) return;
    // litgpt's chunks of the head keep their logits until the backward.
    if (IsTool("litgpt")) {
      job().loss = LossKind::kFused;
      return;
    }
    for (const std::string_view part : {"linear", "chunked", "liger", "cut"}) {
      if (Holds(loss, part)) job().loss = LossKind::kChunked;
    }
    if (job().loss == LossKind::kLibrary) job().loss = LossKind::kFused;
  }

  const ScoreInput& input_;
  const ScoreSettings& settings_;
  std::string framework_;
  RecordedRun run_;
  std::string missing_;
};

}  // namespace

std::variant<RecordedRun, LeftOut> RunOfRecord(const ScoreInput& input) {
  return Reader(input).Read();
}

}  // namespace foretell
