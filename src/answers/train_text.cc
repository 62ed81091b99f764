#include "answers/train_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>
#include <utility>

#include "base/dtype.h"
#include "base/figure.h"

namespace foretell {
namespace {

std::string_view NameOf(Sharding sharding) {
  switch (sharding) {
    case Sharding::kNone:
      return "not divided";
    case Sharding::kDdp:
      return "DDP";
    case Sharding::kZero1:
      return "ZeRO 1";
    case Sharding::kZero2:
      return "ZeRO 2";
    case Sharding::kZero3:
      return "ZeRO 3";
    case Sharding::kFsdp1:
      return "FSDP 1";
    case Sharding::kFsdp2:
      return "FSDP 2";
  }
  return "";
}

std::string_view NameOf(WeightFormat format) {
  switch (format) {
    case WeightFormat::kNone:
      return "";
    case WeightFormat::kNf4:
      return "nf4";
    case WeightFormat::kInt8:
      return "int8";
    case WeightFormat::kGptq4:
      return "gptq";
  }
  return "";
}

std::string_view NameOf(Preference preference) {
  switch (preference) {
    case Preference::kNone:
      return "";
    case Preference::kDpo:
      return "DPO";
    case Preference::kKto:
      return "KTO";
    case Preference::kOrpo:
      return "ORPO";
    case Preference::kSimpo:
      return "SimPO";
  }
  return "";
}

std::string_view NameOf(Reference reference) {
  switch (reference) {
    case Reference::kModel:
      return "a reference model";
    case Reference::kAdapterOff:
      return "adapters off as reference";
    case Reference::kPrecomputed:
      return "reference computed before";
  }
  return "";
}

class Describer {
 public:
  explicit Describer(const TrainingJob& job) : job_(job), step_(job.step) {}

  std::string Text() {
    AddMethod();
    AddSizes();
    AddPrecision();
    AddActivations();
    Add(job_.optimizer.empty() ? step_.optimizer : job_.optimizer);
    if (job_.optimizer_in_backward) Add("in the backward");
    if (job_.gpus > 1) {
      Add(fmt::format("{} over {} cards", NameOf(job_.sharding), job_.gpus));
    }
    return fmt::format("{}", fmt::join(parts_, ", "));
  }

 private:
  void Add(std::string part) { parts_.push_back(std::move(part)); }

  void AddMethod() {
    std::string method = "full";
    if (step_.lora) {
      const LoraSettings& lora = *step_.lora;
      method = fmt::format("{}{} r={} on {}",
                           job_.weights == WeightFormat::kNone ? "" : "Q",
                           lora.dora              ? "DoRA"
                           : lora.rank_stabilized ? "rsLoRA"
                                                  : "LoRA",
                           lora.rank, fmt::join(lora.targets, "+"));
      if (!lora.saved.empty()) {
        method += fmt::format(" with {} whole", fmt::join(lora.saved, "+"));
      }
    }
    Add(method);
    if (job_.preference != Preference::kNone) {
      Add(std::string(NameOf(job_.preference)));
    }
    if (job_.preference == Preference::kDpo ||
        job_.preference == Preference::kKto) {
      Add(std::string(NameOf(job_.reference)));
    }
  }

  void AddSizes() {
    const bool pairs = job_.preference != Preference::kNone &&
                       job_.preference != Preference::kKto;
    Add(fmt::format("batch {}{}", step_.batch, pairs ? " pairs" : ""));
    if (job_.accumulate > 1) {
      Add(fmt::format("{} micro-steps", job_.accumulate));
    }
    if (job_.padding_free) {
      Add(fmt::format("{} tokens each in one row",
                      WithSeparators(job_.mean_sequence)));
    } else {
      Add(fmt::format("{} tokens", WithSeparators(step_.sequence)));
    }
  }

  void AddPrecision() {
    Add(std::string(foretell::NameOf(step_.dtype)));
    if (job_.weights != WeightFormat::kNone) {
      Add(fmt::format("{} weights", NameOf(job_.weights)));
    }
    if (step_.autocast) {
      Add(fmt::format("autocast {}", foretell::NameOf(*step_.autocast)));
    }
    if (job_.fp8 == Fp8::kTransformerEngine) Add("Transformer Engine's fp8");
    if (job_.fp8 == Fp8::kTorchao) Add("torchao's fp8");
    Add(step_.attention + " attention");
    if (job_.kernels == FusedKernels::kLiger) Add("Liger's kernels");
    if (job_.kernels == FusedKernels::kUnsloth) Add("Unsloth's kernels");
    if (job_.compiled) Add("compiled");
  }

  void AddActivations() {
    if (step_.checkpoint) {
      switch (step_.checkpoint_kind) {
        case CheckpointKind::kFull:
          Add(step_.checkpoint_every == 1
                  ? "every block checkpointed"
                  : fmt::format("one block of {} checkpointed",
                                step_.checkpoint_every));
          break;
        case CheckpointKind::kByOperator:
          Add("blocks checkpointed by operator");
          break;
        case CheckpointKind::kOnlyAttention:
          Add("attention's scores run again");
          break;
      }
    }
    if (job_.offload == Offload::kActivations) Add("activations on the host");
    if (job_.loss == LossKind::kFused) Add("fused loss");
    if (job_.loss == LossKind::kChunked) Add("chunked loss");
  }

  const TrainingJob& job_;
  const StepCase& step_;
  std::vector<std::string> parts_;
};

void AddAssumptionsOfShares(const TrainingJob& job,
                            std::vector<std::string>& out) {
  const bool second = job.sharding == Sharding::kFsdp2;
  if (job.gpus < 2 || (job.sharding != Sharding::kFsdp1 && !second)) return;
  out.push_back(fmt::format(
      "each block is a unit of FSDP, and one more holds the rest; freed after "
      "its forward, the next gathered as a backward begins; {} of 2.15",
      second ? "fully_shard" : "FullyShardedDataParallel"));
  if (job.accumulate < 2) return;
  out.emplace_back(job.reduces_each
                       ? "every micro-step's gradients are reduced at once, as "
                         "torchtitan does; transformers' Trainer keeps whole "
                         "ones: --sync last"
                       : "the last micro-step's gradients alone are reduced "
                         "(no_sync), as transformers' Trainer does; a card "
                         "holds whole ones");
}

// What trl 1.16 does, and what of it is not followed.
void AddAssumptionsOfLoss(const TrainingJob& job,
                          std::vector<std::string>& out) {
  switch (job.preference) {
    case Preference::kNone:
      break;
    case Preference::kDpo:
      out.emplace_back(
          "both answers of a pair are one batch; the reference's forward runs "
          "once the model's has, without gradients, as trl 1.16 does");
      break;
    case Preference::kKto:
      out.emplace_back(
          "KTO's mismatched answers run without gradients, as the reference "
          "does (trl 1.16)");
      break;
    case Preference::kOrpo:
    case Preference::kSimpo:
      out.emplace_back(
          "both answers of a pair are one batch; the logits' log-softmax is "
          "taken as the library's loss (trl 1.16 has its own)");
      break;
  }
  if (job.eval_batches == 0) {
    out.emplace_back("an evaluation keeps the loss alone (--eval-batches 0)");
  }
}

}  // namespace

std::string SettingOf(const TrainingJob& job) { return Describer(job).Text(); }

std::string SettingOfFits(const TrainingJob& job) {
  return fmt::format("{} tokens, {}, {} attention",
                     WithSeparators(job.step.sequence),
                     foretell::NameOf(job.step.dtype), job.step.attention);
}

std::vector<std::string> AssumptionsOf(const TrainingJob& job) {
  const StepCase& step = job.step;
  std::vector<std::string> out;
  out.push_back(fmt::format(
      "eager PyTorch {} and transformers {}, with the kernels of sm{}",
      step.torch, step.transformers, step.capability));
  out.emplace_back(step.holds_output
                       ? "the loop holds what the forward returns, logits "
                         "included, until the backward has run (--loop hold)"
                       : "the loop keeps the loss alone of what the forward "
                         "returns, as transformers' Trainer does");
  if (!step.autocast && !job.master_weights) {
    out.push_back(fmt::format(
        "parameters, gradients and what the optimizer keeps are {}, without "
        "autocast",
        foretell::NameOf(step.dtype)));
  }
  out.emplace_back(
      "a later step: the optimizer's states lie there already, gradients are "
      "let go by zero_grad(set_to_none=True)");
  if (!step.mask) out.emplace_back("every sequence is full: no padding mask");
  AddAssumptionsOfShares(job, out);
  AddAssumptionsOfLoss(job, out);
  if (step.lora && step.lora->float32) {
    out.emplace_back(
        "adapters of half-precision models are float32, as peft "
        "makes them");
  }
  if (job.weights == WeightFormat::kNf4) {
    out.emplace_back(job.double_quant
                         ? "the scales of the 4-bit weights are quantized too"
                         : "the scales of the 4-bit weights are float32");
  }
  if (job.weights != WeightFormat::kNone) {
    out.emplace_back(job.prepared_float32
                         ? "what is not packed is float32 "
                           "(prepare_model_for_kbit_training)"
                         : "what is not packed stays in the model's dtype");
  }
  return out;
}

}  // namespace foretell
