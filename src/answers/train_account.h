// A compiled step and what a training job lays over it, as terms of one card's
// memory.
//
// In: a step compiled in full, or with as few equal blocks as stand for all
// (`repeats`), and the job. The graph's storages are changed. Out: the terms,
// or the refusal of a job that cannot be laid over; nothing where the few
// blocks do not stand for all, so that all have to be compiled.
#ifndef FORETELL_ANSWERS_TRAIN_ACCOUNT_H_
#define FORETELL_ANSWERS_TRAIN_ACCOUNT_H_

#include <cstddef>
#include <optional>
#include <span>
#include <variant>

#include "analysis/composition.h"
#include "answers/compile_step.h"
#include "answers/refusal.h"
#include "answers/train_memory.h"
#include "spec/step_case.h"
#include "spec/training_job.h"

namespace foretell {

struct AccountRequest {
  CompiledStep* compiled = nullptr;
  const StepCase* step = nullptr;  // as it was compiled
  const TrainingJob* job = nullptr;
  std::span<const RepeatedBlocks> repeats = {};
  size_t most_points = 0;  // of the timeline; 0: none is made
  // The forward of the reference that a preference loss compares with.
  const ForwardMemory* reference = nullptr;
};

std::optional<std::variant<TrainMemory, Refusal>> AccountOf(
    const AccountRequest& request);

// The same of a forward alone.
std::optional<std::variant<ForwardMemory, Refusal>> AccountForward(
    const AccountRequest& request);

}  // namespace foretell

#endif  // FORETELL_ANSWERS_TRAIN_ACCOUNT_H_
