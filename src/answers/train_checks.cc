#include "answers/train_checks.h"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <utility>

namespace foretell {
namespace {

using Check = std::optional<Finding> (*)(const TrainingJob&, const Device&);

constexpr int kAmpere = 80;
constexpr int kHopper = 90;

Finding Found(Severity severity, std::string what, std::string why,
              std::string fix) {
  Finding out;
  out.severity = severity;
  out.what = std::move(what);
  out.why = std::move(why);
  out.fix = std::move(fix);
  return out;
}

std::optional<Finding> FlashDType(const TrainingJob& job, const Device&) {
  if (!IsFlash(job.step) || job.step.autocast ||
      job.step.dtype != DType::kFloat32) {
    return std::nullopt;
  }
  return Found(Severity::kBlock,
               fmt::format("{} attention is given float32", job.step.attention),
               "RuntimeError: FlashAttention only support fp16 and bf16 data "
               "type",
               "--autocast bfloat16");
}

// Of a card whose capability is known; another maker's has none.
std::optional<Finding> FlashCard(const TrainingJob& job, const Device& device) {
  const int capability = device.capability;
  if (!IsFlash(job.step) || capability <= 0) return std::nullopt;
  const bool third = job.step.attention == "flash3";
  const bool runs =
      third ? capability / 10 == kHopper / 10 : capability >= kAmpere;
  if (runs) return std::nullopt;
  return Found(
      Severity::kBlock,
      fmt::format("flash-attention {} does not run on {}", third ? 3 : 2,
                  device.name),
      third ? "its kernels are Hopper's"
            : "RuntimeError: FlashAttention only supports Ampere GPUs "
              "or newer",
      third && capability >= kAmpere ? "--attn flash2" : "--attn sdpa");
}

std::optional<Finding> BFloat16Card(const TrainingJob& job,
                                    const Device& device) {
  const bool uses =
      job.step.autocast.value_or(job.step.dtype) == DType::kBFloat16;
  if (!uses || device.capability <= 0 || device.capability >= kAmpere) {
    return std::nullopt;
  }
  return Found(
      Severity::kWarn,
      fmt::format("{} has no bfloat16 products of its own", device.name),
      "they are emulated, and transformers' Trainer refuses bf16=True",
      "--autocast float16 --dtype float32");
}

std::optional<Finding> Float16(const TrainingJob& job, const Device&) {
  const bool trains_it = job.step.dtype == DType::kFloat16 && !job.step.lora &&
                         !job.master_weights;
  if (!trains_it) return std::nullopt;
  return Found(Severity::kWarn, "float16 weights train themselves",
               "ValueError: Attempting to unscale FP16 gradients, with a "
               "gradient scaler; small gradients vanish without one",
               "--dtype float32 --autocast float16");
}

std::optional<Finding> KtoBatch(const TrainingJob& job, const Device&) {
  if (job.preference != Preference::kKto || job.step.batch > 1) {
    return std::nullopt;
  }
  return Found(Severity::kBlock, "KTO has one answer in a micro-batch",
               "ValueError: Actual (not effective) batch size must be > 1",
               "--batch 2");
}

std::optional<Finding> PagedOffload(const TrainingJob& job, const Device&) {
  const bool moves =
      job.offload == Offload::kOptimizer || job.offload == Offload::kParameters;
  if (!moves || !job.optimizer.starts_with("paged_")) return std::nullopt;
  return Found(Severity::kWarn,
               fmt::format("{} keeps its states in managed memory already",
                           job.optimizer),
               "what --offload moves is then little", "--offload none");
}

std::optional<Finding> UnslothCards(const TrainingJob& job, const Device&) {
  if (job.kernels != FusedKernels::kUnsloth || job.gpus == 1 ||
      job.sharding == Sharding::kDdp || job.sharding == Sharding::kNone) {
    return std::nullopt;
  }
  return Found(Severity::kWarn,
               "Unsloth's kernels are told for cards that divide the model",
               "Unsloth itself trains on one card, or on whole copies",
               "--kernels liger");
}

struct Row {
  const char* rule;
  Check check;
};

constexpr std::array<Row, 7> kRows = {{
    {"train/flash-dtype", FlashDType},
    {"train/flash-card", FlashCard},
    {"train/bfloat16-card", BFloat16Card},
    {"train/float16", Float16},
    {"train/kto-batch", KtoBatch},
    {"train/paged-offload", PagedOffload},
    {"train/unsloth-cards", UnslothCards},
}};

}  // namespace

std::vector<Finding> CheckJob(const TrainingJob& job, const Device& device) {
  std::vector<Finding> out;
  for (const Row& row : kRows) {
    auto finding = row.check(job, device);
    if (!finding) continue;
    finding->rule = row.rule;
    out.push_back(*std::move(finding));
  }
  return out;
}

std::vector<std::string> RulesOfJobs() {
  std::vector<std::string> out;
  for (const Row& row : kRows) out.emplace_back(row.rule);
  return out;
}

}  // namespace foretell
