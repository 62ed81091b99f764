#include "answers/train_levers.h"

#include <utility>

namespace foretell {
namespace {

constexpr int64_t kRank = 16;  // of an adapter that nobody asked for

LoraSettings AdaptersOfAll() {
  LoraSettings out;
  out.rank = kRank;
  out.alpha = 2 * kRank;
  out.targets = {"all-linear"};
  return out;
}

}  // namespace

std::vector<JobChange> ChangesOf(const TrainingJob& job) {
  std::vector<JobChange> out;
  const auto add = [&](std::string what, std::string option,
                       std::string training, TrainingJob changed) {
    out.push_back({std::move(what), std::move(option), std::move(training),
                   std::move(changed)});
  };
  TrainingJob changed = job;
  if (job.loss != LossKind::kChunked) {
    changed.loss = LossKind::kChunked;
    add("head and loss in chunks", "--loss chunked", "", changed);
    changed = job;
  }
  if (!job.step.checkpoint) {
    changed.step.checkpoint = true;
    add("every block checkpointed", "--checkpoint full", "", changed);
    if (job.loss != LossKind::kChunked) {
      changed.loss = LossKind::kChunked;
      add("both", "--checkpoint full --loss chunked", "", changed);
    }
    changed = job;
  }
  if (job.step.attention == "eager") {
    changed.step.attention = "sdpa";
    add("fused attention", "--attn sdpa", "", changed);
    changed = job;
  }
  if (job.step.batch > 1) {
    changed.step.batch = 1;
    changed.accumulate = job.accumulate * job.step.batch;
    add("micro-batch 1, accumulated",
        "--batch 1 --accumulate " + std::to_string(changed.accumulate), "",
        changed);
    changed = job;
  }
  if (job.optimizer != "adamw_8bit" && !job.step.lora) {
    changed.optimizer = "adamw_8bit";
    add("moments of 8 bits", "--optimizer adamw_8bit",
        "moments are rounded to 8 bits", changed);
    changed.optimizer = "paged_adamw_8bit";
    add("the same, paged to the host", "--optimizer paged_adamw_8bit",
        "moments are rounded to 8 bits", changed);
    changed = job;
  }
  if (job.sharding == Sharding::kNone) {
    constexpr int64_t kCards = 8;
    changed.sharding = Sharding::kFsdp2;
    changed.gpus = kCards;
    add("divided among 8 cards", "--fsdp 2 --gpus 8", "", changed);
    changed = job;
  }
  if (job.offload == Offload::kNone && !job.step.lora) {
    changed.offload = Offload::kOptimizer;
    add("optimizer on the host", "--offload optimizer", "", changed);
    changed = job;
  }
  if (!job.step.lora) {
    changed.step.lora = AdaptersOfAll();
    add("adapters only", "--method lora --rank 16 --targets all-linear",
        "only low-rank adapters train", changed);
  }
  if (job.weights == WeightFormat::kNone) {
    if (!changed.step.lora) changed.step.lora = AdaptersOfAll();
    changed.weights = WeightFormat::kNf4;
    add("adapters over 4-bit weights",
        "--method qlora --rank 16 --targets all-linear",
        "only low-rank adapters train, over weights rounded to 4 bits",
        changed);
  }
  return out;
}

}  // namespace foretell
