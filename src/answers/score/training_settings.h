// The settings of a record of a measured training run as a job.
//
// In: what the record says (method, precision, optimizer, sizes, kernels,
// sharding), in its own words. Out: the job with what it leaves open, or what
// is missing. Words that no rule here knows leave a row out with a reason that
// names the setting; none is guessed. What a record leaves out and its tool
// has a default for is taken from training_defaults.h.
//
//   precision   bf16_pure, fp16_pure: all in that dtype. amp_… on half
//               weights: the same under autocast. …_mixed, …_on_fp32_weights:
//               float32 under autocast. bf16_fp32_master: half precision with
//               a float32 copy of what trains. bf16_compute_fp32_params, fp8
//               and fp4 (whose weights and activations are held as before): a
//               divided model holds float32 shares; an undivided one is
//               float32 under autocast. DeepSpeed: half precision with a
//               float32 copy, whatever is said.
//   optimizer   adamw_torch and adamw are torch's, by lists of tensors
//               (foreach), as torch chooses on a card.
//   attention   where it is not said: sdpa, the library's own choice.
//   sharding    of transformers' Trainer and others: FSDP 1, of torchtitan and
//               torchtune from 2025 on: FSDP 2. Tensor (with sequence),
//               context and sequence parallelism divide what each token holds,
//               so that a card is taken to have its part of the tokens; tensor
//               and expert parallelism divide parameters like the rest.
//   lengths     a length is the longest sample's. Tools that pack, and records
//               whose samples are on average as long, have one size of batch;
//               the rest have many, between which the allocator leaves holes.
#ifndef FORETELL_ANSWERS_SCORE_TRAINING_SETTINGS_H_
#define FORETELL_ANSWERS_SCORE_TRAINING_SETTINGS_H_

#include <cstdint>
#include <optional>
#include <variant>

#include "answers/score/score_row.h"
#include "answers/score/training_litgpt.h"
#include "engines/pytorch/device_memory.h"
#include "spec/training_job.h"

namespace foretell {

struct RecordedRun {
  TrainingJob job;
  BatchSizes sizes = BatchSizes::kOne;
  // How far tensors may be off where a setting is followed in its outline only;
  // 0: as the answer itself says.
  double doubt = 0;
  // The share of activations that is kept where the job stands for none of
  // them (all recomputed), and without checkpoints for all.
  double kept = 0;
  // A loop of its own computes the loss in the logits' dtype and holds them.
  bool own_loss = false;
  // Frozen copies of the weights beside those that train.
  int64_t reference_models = 0;
  // What is kept for the backward waits on the host.
  bool keeps_on_host = false;
  // The longest sample is known; else only a peak that no length changes is.
  bool has_length = true;
  // litgpt's own blocks run, on one card and without recomputing.
  std::optional<LitgptMethod> litgpt;
  // The longest sample is the first, so that nothing is left of one before.
  bool longest_first = false;
  // Gradients are let go as they are applied.
  bool steps_in_backward = false;
};

std::variant<RecordedRun, LeftOut> RunOfRecord(const ScoreInput& input);

}  // namespace foretell

#endif  // FORETELL_ANSWERS_SCORE_TRAINING_SETTINGS_H_
