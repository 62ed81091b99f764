#include "answers/train_memory.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <utility>

#include "answers/train_account.h"
#include "answers/train_rank.h"
#include "engines/pytorch/optimizer_memory.h"

namespace foretell {
namespace {

// A number stands alone in a dotted name: it tells one block from another.
bool NamesBlock(std::string_view text) {
  size_t start = 0;
  while (start <= text.size()) {
    const size_t dot = std::min(text.find('.', start), text.size());
    const std::string_view part = text.substr(start, dot - start);
    if (!part.empty() &&
        part.find_first_not_of("0123456789") == std::string_view::npos) {
      return true;
    }
    start = dot + 1;
  }
  return false;
}

// An optimizer that works on all parameters at once, or makes some of its
// states anew, is no block's; nor is what names blocks.
bool MayFold(const StepCase& step) {
  constexpr std::array<std::string_view, 4> kByBlock = {
      "none", "sgd", "adamw_fused", "adamw_loop"};
  if (std::ranges::find(kByBlock, step.optimizer) == kByBlock.end() ||
      step.first_step) {
    return false;
  }
  if (std::ranges::any_of(step.frozen, NamesBlock)) return false;
  return !step.lora || std::ranges::none_of(step.lora->targets, NamesBlock);
}

// How few blocks stand for all of them.
struct FoldPlan {
  std::vector<BlockPattern> patterns;
  int64_t blocks = 0;
};

// A run, its witness and one more, of a step that gathers parameters two: what
// the block after it has left goes in its backward. With `later` runs before
// them that are not repeated: what all blocks share goes with the first that
// reads it.
std::optional<FoldPlan> PlanOf(std::span<const BlockPattern> patterns,
                               int64_t later, int64_t every, bool gathers) {
  const int64_t runs = gathers ? 4 : 3;
  FoldPlan out;
  for (BlockPattern pattern : patterns) {
    pattern.period = std::lcm(pattern.period, every);
    pattern.first += later * pattern.period;
    const int64_t rest = (pattern.blocks - pattern.first) % pattern.period;
    out.blocks =
        std::max(out.blocks, pattern.first + runs * pattern.period + rest);
    out.patterns.push_back(std::move(pattern));
  }
  for (const BlockPattern& pattern : out.patterns) {
    const int64_t left = pattern.blocks - out.blocks;
    if (left <= 0 || left % pattern.period != 0) return std::nullopt;
  }
  if (out.patterns.empty()) return std::nullopt;
  return out;
}

// Another forward without gradients in each step: a reference's, or KTO's of
// mismatched answers.
bool RunsReference(const TrainingJob& job) {
  return job.preference == Preference::kKto ||
         (job.preference == Preference::kDpo &&
          job.reference != Reference::kPrecomputed);
}

// A float32 copy beside FSDP's shares is what FSDP holds as the shares.
TrainingJob Plain(const TrainingJob& job) {
  TrainingJob out = job;
  const bool flat =
      job.sharding == Sharding::kFsdp1 || job.sharding == Sharding::kFsdp2;
  if (!flat || job.gpus < 2 || !job.master_weights) return out;
  out.master_weights = false;
  out.float32_shares = true;
  return out;
}

bool Gathers(const TrainingJob& job) {
  return job.gpus > 1 &&
         (job.sharding == Sharding::kFsdp1 ||
          job.sharding == Sharding::kFsdp2 || job.sharding == Sharding::kZero3);
}

}  // namespace

std::vector<std::string_view> OptimizersOfOtherLibraries() {
  return OptimizersByRule();
}

StepCase CompiledCaseOf(const TrainingJob& job) {
  StepCase step = job.step;
  // The last micro-step is alike for two and more.
  step.accumulate = std::min<int64_t>(job.accumulate, 2);
  // A rank's share holds the gradients of earlier ones.
  if (const auto rank = RankOf(job, step)) {
    const bool keeps_whole =
        rank->wrapper == Wrapper::kFsdp2 && !rank->reduces_always;
    if (rank->wrapper != Wrapper::kDdp && !keeps_whole) step.accumulate = 1;
  }
  // Both answers of a pair go in together.
  const bool pairs =
      job.preference != Preference::kNone && job.preference != Preference::kKto;
  if (pairs) step.batch *= 2;
  if (job.padding_free) {
    step.sequence = step.batch * job.mean_sequence;
    step.batch = 1;
  }
  if (!job.optimizer.empty()) step.optimizer = "none";
  if (job.prepared_float32 && !step.autocast) {
    step.autocast = step.dtype;
    step.dtype = DType::kFloat32;
  }
  return step;
}

TrainModel::TrainModel(const ModelConfig& config, BuildOptions build)
    : config_(&config), build_(std::move(build)) {
  if (build_.most_layers) return;
  const auto read = ReadModelOf(config, build_);
  if (const auto* model = std::get_if<ReadModel>(&read)) {
    patterns_ = PatternsOf(model->built);
  }
}

TrainModel::TrainModel(const ModelConfig& config, BuildOptions build,
                       const BuiltModel& built)
    : config_(&config), build_(std::move(build)) {
  if (!build_.most_layers) patterns_ = PatternsOf(built);
}

template <class Answer, class Account>
std::variant<Answer, Refusal> TrainModel::Compiled(const StepCase& step,
                                                   StopAfter stop,
                                                   bool may_fold, bool gathers,
                                                   const Account& account) {
  constexpr int64_t kMostLater = 2;
  BuildOptions build = build_;
  build.dtype = step.dtype;
  // The first block that is gathered finds none before it.
  const int64_t first = std::max<int64_t>(first_later_, gathers ? 1 : 0);
  for (int64_t later = first; may_fold && later < kMostLater; ++later) {
    const auto plan = PlanOf(patterns_, later, step.checkpoint_every, gathers);
    if (!plan) break;
    build.most_layers = plan->blocks;
    auto compiled = CompileStep(*config_, build, step, stop);
    auto* few = std::get_if<CompiledStep>(&compiled);
    if (few == nullptr) break;
    const std::vector<RepeatedBlocks> repeats =
        RepeatsIn(few->graph(), plan->patterns, plan->blocks, std::nullopt);
    if (auto answer = account(*few, repeats)) {
      if (!gathers) first_later_ = later;
      return *std::move(answer);
    }
  }
  build.most_layers = build_.most_layers;
  auto compiled = CompileStep(*config_, build, step, stop);
  if (auto* refusal = std::get_if<Refusal>(&compiled)) {
    return std::move(*refusal);
  }
  // Where all blocks are there, there is an answer.
  return *account(std::get<CompiledStep>(compiled), {});
}

std::variant<TrainMemory, Refusal> TrainModel::MemoryOf(
    const TrainingJob& stated, size_t most_points) {
  const TrainingJob job = Plain(stated);
  const StepCase step = CompiledCaseOf(job);
  std::optional<ForwardMemory> reference;
  if (RunsReference(job)) {
    auto forward = ForwardOf(job);
    if (auto* refusal = std::get_if<Refusal>(&forward)) {
      return std::move(*refusal);
    }
    reference = std::move(std::get<ForwardMemory>(forward));
  }
  return Compiled<TrainMemory>(
      step, StopAfter::kOptimizer, most_points == 0 && MayFold(step),
      Gathers(job),
      [&](CompiledStep& compiled, std::span<const RepeatedBlocks> repeats) {
        return AccountOf({.compiled = &compiled,
                          .step = &step,
                          .job = &job,
                          .repeats = repeats,
                          .most_points = most_points,
                          .reference = reference ? &*reference : nullptr});
      });
}

std::variant<ForwardMemory, Refusal> TrainModel::ForwardOf(
    const TrainingJob& stated, size_t most_points) {
  const TrainingJob job = Plain(stated);
  StepCase step = CompiledCaseOf(job);
  step.evaluates = true;
  step.accumulate = 1;
  step.optimizer = "none";
  return Compiled<ForwardMemory>(
      step, StopAfter::kForward, most_points == 0 && MayFold(step),
      Gathers(job),
      [&](CompiledStep& compiled, std::span<const RepeatedBlocks> repeats) {
        return AccountForward({.compiled = &compiled,
                               .step = &step,
                               .job = &job,
                               .repeats = repeats,
                               .most_points = most_points});
      });
}

std::variant<TrainMemory, Refusal> TrainMemoryOf(const ModelConfig& config,
                                                 const BuildOptions& build,
                                                 const TrainingJob& job) {
  return TrainModel(config, build).MemoryOf(job);
}

}  // namespace foretell
