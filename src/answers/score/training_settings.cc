#include "answers/score/training_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "answers/score/training_defaults.h"
#include "base/library.h"

namespace foretell {
namespace {

bool Holds(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

class Reader {
 public:
  explicit Reader(const ScoreInput& input) : settings_(input.settings) {
    if (input.device != nullptr && input.device->capability > 0) {
      job_.step.capability = input.device->capability;
    }
  }

  std::variant<TrainingJob, LeftOut> Read() {
    ReadVersion();
    ReadSizes();
    ReadSharding();
    ReadPrecision();
    ReadOptimizer();
    ReadActivations();
    ReadMethod();
    ReadLoss();
    job_.step.mode = StepMode::kTrain;
    job_.step.holds_output = false;
    job_.experts_are_linear = !job_.step.transformers.starts_with("5");
    if (!missing_.empty()) return LeftOut{missing_};
    return job_;
  }

 private:
  std::string Text(std::string_view path) const {
    return settings_.Text(path).value_or("");
  }

  // The first thing that is missing is the reason.
  void Missing(std::string what) {
    if (missing_.empty()) missing_ = std::move(what);
  }

  // "…, transformers 4.48.1, …"; else the newest at the record's date.
  void ReadVersion() {
    constexpr std::string_view kName = "transformers ";
    const std::string framework = Text("framework");
    const std::string dated = TransformersAt(Text("source.date"));
    if (!dated.empty()) job_.step.transformers = dated;
    const size_t at = framework.find(kName);
    if (at == std::string::npos) return;
    const std::string rest = framework.substr(at + kName.size());
    const size_t end = rest.find_first_not_of("0123456789.");
    const std::string version = rest.substr(0, end);
    if (ParseLibraryVersion(version)) job_.step.transformers = version;
  }

  void ReadSizes() {
    const auto batch = settings_.Integer("micro_batch");
    const auto sequence = settings_.Integer("seq_len");
    if (!batch || *batch < 1) return Missing("no micro-batch is stated");
    if (!sequence || *sequence < 1) return Missing("no length is stated");
    job_.step.batch = *batch;
    job_.step.sequence = *sequence;
    job_.accumulate =
        std::max<int64_t>(1, settings_.Integer("grad_accum").value_or(1));
  }

  void ReadSharding() {
    const std::string kind = Text("sharding.kind");
    const std::string framework = Text("framework");
    job_.gpus = settings_.Integer("sharding.degree")
                    .value_or(settings_.Integer("gpu_count").value_or(1));
    if (kind.empty() || kind == "none") {
      job_.gpus = 1;
      return;
    }
    if (kind == "ddp") {
      job_.sharding = Sharding::kDdp;
    } else if (kind == "zero1") {
      job_.sharding = Sharding::kZero1;
    } else if (kind == "zero2") {
      job_.sharding = Sharding::kZero2;
    } else if (kind == "zero3") {
      job_.sharding = Sharding::kZero3;
    } else if (kind == "fsdp") {
      const bool second = Holds(Text("sharding.version"), "2") ||
                          Holds(framework, "torchtitan") ||
                          Holds(framework, "torchtune");
      job_.sharding = second ? Sharding::kFsdp2 : Sharding::kFsdp1;
    } else {
      return Missing("a division of another kind: " + kind);
    }
    if (job_.gpus < 1) Missing("no number of cards is stated");
    if (job_.gpus == 1) job_.sharding = Sharding::kNone;
  }

  void ReadPrecision() {
    const std::string name = Text("precision_class");
    StepCase& step = job_.step;
    const bool divides = job_.sharding == Sharding::kFsdp1 ||
                         job_.sharding == Sharding::kFsdp2 ||
                         job_.sharding == Sharding::kZero3;
    const DType half = Holds(name, "fp16") ? DType::kFloat16 : DType::kBFloat16;
    if (name == "bf16_pure" || name == "fp16_pure" ||
        name == "bf16_unspecified" || name == "fp16_unspecified") {
      step.dtype = half;
    } else if (name == "amp_bf16_on_bf16_weights" ||
               name == "fp16_mixed_on_fp16_weights") {
      step.dtype = half;
      step.autocast = half;
      // accelerate lifts what trains to float32 before FSDP flattens it.
      job_.float32_shares = job_.sharding == Sharding::kFsdp1;
    } else if (name == "fp16_mixed" || name == "amp_bf16_on_fp32_weights" ||
               name == "bf16_compute_fp32_params") {
      step.dtype = divides ? half : DType::kFloat32;
      job_.float32_shares = divides;
      if (!divides) step.autocast = half;
    } else if (name == "bf16_fp32_master") {
      step.dtype = half;
      job_.master_weights = true;
    } else if (name == "fp32") {
      step.dtype = DType::kFloat32;
    } else if (name.empty()) {
      Missing("no precision is stated");
    } else {
      Missing("a precision of another kind: " + name);
    }
    if (IsZero()) UseDeepSpeedPrecision();
  }

  bool IsZero() const {
    return Holds(Text("framework"), "DeepSpeed") ||
           job_.sharding == Sharding::kZero1 ||
           job_.sharding == Sharding::kZero2 ||
           job_.sharding == Sharding::kZero3;
  }

  // DeepSpeed casts the whole module to half precision, holds a float32 copy of
  // what trains, and accelerate lays no autocast over it.
  // Source: deepspeed 0.14 to 0.18, runtime/engine.py, bf16_optimizer.py;
  // accelerate, Accelerator._prepare_deepspeed.
  void UseDeepSpeedPrecision() {
    StepCase& step = job_.step;
    if (step.dtype == DType::kFloat32 && !step.autocast) return;
    if (step.dtype == DType::kFloat32) step.dtype = *step.autocast;
    step.autocast.reset();
    job_.float32_shares = false;
    job_.master_weights = settings_.Flag("master_weights").value_or(true);
  }

  void ReadOptimizer() {
    struct Known {
      std::string_view name;
      std::string_view step;  // passes/optimizer writes it
      std::string_view rule;  // engines/pytorch/optimizer_memory has it
    };
    constexpr std::array<Known, 14> kKnown = {{
        {"adamw_torch", "adamw_foreach", ""},
        {"adamw", "adamw_foreach", ""},
        {"adam", "adamw_foreach", ""},
        {"adamw fused", "adamw_fused", ""},
        {"adamw_torch_fused", "adamw_fused", ""},
        {"adam (distributed optimizer)", "adamw_fused", ""},
        {"sgd", "none", "sgd_momentum"},
        {"paged adamw (bnb)", "none", "paged_adamw"},
        {"paged_adamw_32bit", "none", "paged_adamw"},
        {"paged_adamw_8bit", "none", "paged_adamw_8bit"},
        {"adamw_bnb_8bit", "none", "adamw_8bit"},
        {"adamw 8bit", "none", "adamw_8bit"},
        {"adamw_torch_8bit", "none", "adamw_torchao_8bit"},
        {"adamw (cpu offload)", "adamw_foreach", ""},
    }};
    const std::string name = Text("optimizer");
    const auto known = std::ranges::find(kKnown, name, &Known::name);
    if (name.empty()) return Missing("no optimizer is stated");
    if (known == kKnown.end()) {
      return Missing("an optimizer of another kind: " + name);
    }
    job_.step.optimizer = known->step;
    // DeepSpeed steps with its own fused kernel.
    if (IsZero() && known->step == "adamw_foreach") {
      job_.step.optimizer = "adamw_fused";
    }
    job_.optimizer = known->rule;
    const std::string offload = Text("offload");
    if (Holds(offload, "activation") || Holds(offload, "%")) {
      return Missing("an offload of another kind: " + offload);
    }
    if (offload == "cpu" || Holds(offload, "param")) {
      job_.offload = Offload::kParameters;
    } else if (Holds(offload, "optimizer") || Holds(name, "offload")) {
      job_.offload = Offload::kOptimizer;
    }
  }

  void ReadActivations() {
    const std::string kind = Text("gc_class");
    if (kind == "full") {
      job_.step.checkpoint = true;
    } else if (kind.empty()) {
      Missing("whether activations are recomputed is not stated");
    } else if (kind != "none") {
      Missing("a recomputation of another kind: " + kind);
    }
    const std::string attention = Text("attention_impl");
    job_.step.attention = "sdpa";
    if (attention == "eager") job_.step.attention = "eager";
    if (Holds(attention, "flash")) job_.step.attention = "flash2";
  }

  void ReadMethod() {
    const std::string quant = Text("quant");
    if (Holds(quant, "nf4") || quant == "fp4" || quant == "4bit") {
      job_.weights = WeightFormat::kNf4;
      job_.double_quant = Holds(quant, "dq") || quant == "4bit";
    } else if (quant == "gptq-int4") {
      job_.weights = WeightFormat::kGptq4;
    } else if (quant == "int8") {
      job_.weights = WeightFormat::kInt8;
    } else if (!quant.empty() && quant != "none") {
      Missing("weights of another kind: " + quant);
    }
    const std::string task = Text("task");
    if (settings_.Get("lora") == nullptr) {
      if (task != "full_ft" && task != "pretrain") {
        Missing("a method of another kind: " + task);
      } else if (job_.weights != WeightFormat::kNone) {
        Missing("what trains beside packed weights is not stated");
      }
      return;
    }
    if (task != "lora" && task != "qlora") {
      return Missing("a method of another kind: " + task);
    }
    ReadAdapters();
  }

  void ReadAdapters() {
    LoraSettings lora;
    const auto rank = settings_.Integer("lora.rank");
    if (!rank || *rank < 1) return Missing("no rank of adapters is stated");
    lora.rank = *rank;
    const ConfigValue* targets = settings_.Get("lora.targets");
    if (targets == nullptr || !targets->is_array()) {
      return Missing("no targets of adapters are stated");
    }
    for (const ConfigValue& target : targets->items()) {
      if (const auto name = target.AsString()) lora.targets.emplace_back(*name);
    }
    // peft makes adapters of a half-precision model float32; trainers that run
    // purely in half precision cast them back.
    lora.float32 =
        job_.step.autocast.has_value() || Text("framework").starts_with("peft");
    job_.step.lora = std::move(lora);
  }

  void ReadLoss() {
    const std::string loss = Text("fused_loss");
    if (loss.empty()) return;
    for (const std::string_view part : {"linear", "chunked", "liger", "cut"}) {
      if (Holds(loss, part)) job_.loss = LossKind::kChunked;
    }
    if (job_.loss == LossKind::kLibrary) job_.loss = LossKind::kFused;
  }

  const ScoreSettings& settings_;
  TrainingJob job_;
  std::string missing_;
};

}  // namespace

std::variant<TrainingJob, LeftOut> JobOfRecord(const ScoreInput& input) {
  return Reader(input).Read();
}

}  // namespace foretell
