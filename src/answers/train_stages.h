// The stages of a training run and what one card holds in each: the first
// step, the micro-steps before the last, a later step, an evaluation, saving.
//
// In: the model, the job, what its step takes, and how it evaluates. Out: each
// stage's peak of tensors and what stays after it; with points where a
// timeline was asked for.
//
//   first step   the optimizer makes its states in its own step: until then
//                they are not there
//   micro-steps  before the last: no gradients lie there as the first begins
//   evaluation   forward and loss under no_grad beside weights and states. The
//                logits of `batches` batches stay on the card: each is joined
//                to those before it in a new tensor.
//                Source: transformers 5.23, trainer_pt_utils.py
//                (EvalLoopContainer.add, nested_concat), until
//                eval_accumulation_steps moves them to the host; without
//                compute_metrics the loss alone is kept.
//   saving       tensors are copied to the host one by one; where cards divide
//                the model, the largest that is gathered whole lives beside.
//                Source: torch 2.15, distributed/checkpoint/state_dict.py
//                (full_state_dict with cpu_offload).
#ifndef FORETELL_ANSWERS_TRAIN_STAGES_H_
#define FORETELL_ANSWERS_TRAIN_STAGES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "answers/refusal.h"
#include "answers/train_memory.h"
#include "spec/training_job.h"

namespace foretell {

struct TrainStage {
  std::string name;   // "first step"
  std::string at;     // where the peak is: "in the backward"
  int64_t peak = 0;   // bytes of tensors
  int64_t stays = 0;  // after it
  bool is_exact = true;
  std::vector<MemoryPoint> timeline = {};
};

// `memory` is the job's own. With `most_points` each stage has a timeline.
std::variant<std::vector<TrainStage>, Refusal> StagesOf(
    TrainModel& model, const TrainingJob& job, const TrainMemory& memory,
    size_t most_points = 0);

}  // namespace foretell

#endif  // FORETELL_ANSWERS_TRAIN_STAGES_H_
