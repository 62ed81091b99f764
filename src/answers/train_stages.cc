#include "answers/train_stages.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

namespace foretell {
namespace {

int64_t PeakOf(const TrainMemory& memory, Phase phase) {
  for (const TrainPhase& one : memory.phases) {
    if (one.phase == phase) return one.peak;
  }
  return 0;
}

// "in the backward"
std::string PhaseText(Phase phase) {
  return fmt::format("in the {}", NameOf(phase));
}

std::string PlaceText(const TrainMemory& memory) {
  if (memory.operation.empty()) return PhaseText(memory.peak_phase);
  return fmt::format("{}, as {} ran", PhaseText(memory.peak_phase),
                     memory.operation);
}

class Stager {
 public:
  Stager(TrainModel& model, const TrainingJob& job, const TrainMemory& memory,
         size_t most_points)
      : model_(model), job_(job), memory_(memory), most_points_(most_points) {}

  std::variant<std::vector<TrainStage>, Refusal> Run() {
    AddFirstStep();
    if (job_.accumulate > 1) AddMicroSteps();
    AddLaterStep();
    AddEvaluation();
    AddSaving();
    if (refusal_) return *std::move(refusal_);
    return std::move(out_);
  }

 private:
  template <class Answer>
  std::optional<Answer> Take(std::variant<Answer, Refusal> result) {
    if (auto* refusal = std::get_if<Refusal>(&result)) {
      refusal_ = std::move(*refusal);
      return std::nullopt;
    }
    return std::move(std::get<Answer>(result));
  }

  std::vector<MemoryPoint> PointsOf(const TrainingJob& job) {
    if (most_points_ == 0) return {};
    auto memory = Take(model_.MemoryOf(job, most_points_));
    return memory ? std::move(memory->timeline) : std::vector<MemoryPoint>();
  }

  // Forward and backward as in a later step, without what its own optimizer's
  // step makes.
  void AddFirstStep() {
    TrainStage stage;
    stage.name = "first step";
    Phase highest = Phase::kForward;
    for (const TrainPhase& phase : memory_.phases) {
      const bool steps = phase.phase == Phase::kOptimizer;
      const int64_t peak = phase.peak - (steps ? 0 : memory_.states);
      if (peak <= stage.peak) continue;
      stage.peak = peak;
      highest = phase.phase;
    }
    stage.at = PhaseText(highest);
    stage.stays = memory_.stays;
    TrainingJob job = job_;
    job.step.first_step = true;
    stage.timeline = PointsOf(job);
    Add(std::move(stage));
  }

  // The first of them: those after it hold gradients as the last does.
  void AddMicroSteps() {
    TrainingJob job = job_;
    job.accumulate = 1;
    auto memory = Take(model_.MemoryOf(job, most_points_));
    if (!memory) return;
    TrainStage stage;
    stage.name = "first micro-step";
    stage.peak = PeakOf(*memory, Phase::kForward);
    stage.at = PhaseText(Phase::kForward);
    if (PeakOf(*memory, Phase::kBackward) > stage.peak) {
      stage.peak = PeakOf(*memory, Phase::kBackward);
      stage.at = PhaseText(Phase::kBackward);
    }
    stage.stays = memory_.stays + memory_.gradients;
    stage.timeline = std::move(memory->timeline);
    std::erase_if(stage.timeline, [](const MemoryPoint& point) {
      return point.phase == Phase::kOptimizer;
    });
    Add(std::move(stage));
  }

  void AddLaterStep() {
    TrainStage stage;
    stage.name =
        job_.accumulate > 1 ? "last micro-step and optimizer" : "later step";
    stage.peak = memory_.tensors;
    stage.at = PlaceText(memory_);
    stage.stays = memory_.stays;
    stage.timeline = PointsOf(job_);
    Add(std::move(stage));
  }

  void AddEvaluation() {
    TrainingJob job = job_;
    job.step.batch = job_.eval_batch > 0 ? job_.eval_batch : job_.step.batch;
    const bool keeps = job_.eval_batches > 0;
    // Who wants logits has the class compute them.
    if (keeps) job.loss = LossKind::kLibrary;
    auto forward = Take(model_.ForwardOf(job, most_points_));
    if (!forward) return;
    TrainStage stage;
    stage.name = "evaluation";
    stage.is_exact = forward->not_exact.empty();
    // The joined tensor stands beside those that go into it.
    const int64_t before = keeps ? job_.eval_batches - 1 : 0;
    const int64_t kept = forward->logits * before;
    const int64_t joining =
        keeps ? kept + forward->logits * (before + 1) : int64_t{0};
    const bool joins = joining > forward->above + kept;
    stage.peak = memory_.stays + std::max(joining, forward->above + kept);
    stage.at =
        joins ? "as the last batch's logits are joined to the others"
        : forward->operation.empty()
            ? "in the forward"
            : fmt::format("in the forward, as {} ran", forward->operation);
    stage.stays = memory_.stays;
    stage.timeline = std::move(forward->timeline);
    for (MemoryPoint& point : stage.timeline) {
      const auto states = static_cast<size_t>(MemoryKind::kStates);
      point.bytes[states] = memory_.states;
      point.bytes[static_cast<size_t>(MemoryKind::kReturned)] += kept;
    }
    Add(std::move(stage));
  }

  void AddSaving() {
    TrainStage stage;
    stage.name = "saving";
    const bool gathers = memory_.largest_gathered > 0;
    stage.peak = memory_.stays + memory_.largest_gathered;
    stage.at = gathers ? "as the largest tensor is gathered for the file"
                       : "tensors are copied to the host one by one";
    stage.stays = memory_.stays;
    stage.is_exact = !gathers;
    if (most_points_ > 0) {
      // No operations: it is drawn as long as a fortieth of what came before.
      MemoryPoint point;
      point.operation = 1;
      point.bytes = memory_.staying;
      point.bytes[static_cast<size_t>(MemoryKind::kTemporary)] =
          memory_.largest_gathered;
      stage.timeline.push_back(point);
      point.operation = std::max<uint32_t>(2, operations_ / 40);
      stage.timeline.push_back(point);
    }
    Add(std::move(stage));
  }

  void Add(TrainStage stage) {
    stage.is_exact = stage.is_exact && memory_.not_exact.empty();
    if (!stage.timeline.empty()) {
      operations_ += stage.timeline.back().operation;
    }
    out_.push_back(std::move(stage));
  }

  TrainModel& model_;
  const TrainingJob& job_;
  const TrainMemory& memory_;
  size_t most_points_;
  uint32_t operations_ = 0;
  std::optional<Refusal> refusal_;
  std::vector<TrainStage> out_;
};

}  // namespace

std::variant<std::vector<TrainStage>, Refusal> StagesOf(
    TrainModel& model, const TrainingJob& job, const TrainMemory& memory,
    size_t most_points) {
  return Stager(model, job, memory, most_points).Run();
}

}  // namespace foretell
