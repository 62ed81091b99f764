// The settings of a record of a measured training run as a job.
//
// In: what the record says (method, precision, optimizer, sizes, kernels,
// sharding), in its own words. Out: the job, or what is missing. Words that no
// rule here knows leave a row out with a reason that names the setting; none
// is guessed.
//
//   precision   bf16_pure, fp16_pure: all in that dtype. amp_… on half
//               weights: the same under autocast. …_mixed, …_on_fp32_weights:
//               float32 under autocast. bf16_fp32_master: half precision with
//               a float32 copy of what trains. bf16_compute_fp32_params: a
//               divided model holds float32 shares; an undivided one is
//               float32 under autocast.
//   optimizer   adamw_torch and adamw are torch's, by lists of tensors
//               (foreach), as torch chooses on a card.
//   attention   where it is not said: sdpa, the library's own choice.
//   sharding    of transformers' Trainer and others: FSDP 1, of torchtitan and
//               torchtune from 2025 on: FSDP 2.
#ifndef FORETELL_ANSWERS_SCORE_TRAINING_SETTINGS_H_
#define FORETELL_ANSWERS_SCORE_TRAINING_SETTINGS_H_

#include <string>
#include <variant>

#include "answers/score/score_row.h"
#include "spec/training_job.h"

namespace foretell {

std::variant<TrainingJob, LeftOut> JobOfRecord(const ScoreInput& input);

}  // namespace foretell

#endif  // FORETELL_ANSWERS_SCORE_TRAINING_SETTINGS_H_
