// Settings of a training job that do not go together, or not with the card:
// what would fail, or not do what it says, before memory matters.
//
// In: the job, whose step has the model's dtype, and the card. Out: findings,
// and the rules that ran.
//
//   train/flash-dtype   flash-attention takes half precision only
//                       Source: Dao-AILab/flash-attention 2.8, csrc/flash_attn/
//                       flash_api.cpp (mha_fwd)
//   train/flash-card    version 2 runs from sm80 on, version 3 on sm90
//                       Source: the same, and hopper/flash_api.cpp
//   train/bfloat16-card before sm80 there are no bfloat16 tensor cores
//   train/float16       gradients of float16 weights cannot be unscaled
//                       Source: torch 2.15, amp/grad_scaler.py (unscale_:
//                       "Attempting to unscale FP16 gradients")
//   train/kto-batch     Source: trl 1.16, trainer/kto_trainer.py
//   train/paged-offload states that are in managed memory are offloaded already
//   train/unsloth-cards Unsloth's kernels with cards that divide the model
#ifndef FORETELL_ANSWERS_TRAIN_CHECKS_H_
#define FORETELL_ANSWERS_TRAIN_CHECKS_H_

#include <string>
#include <vector>

#include "base/finding.h"
#include "spec/device.h"
#include "spec/training_job.h"

namespace foretell {

std::vector<Finding> CheckJob(const TrainingJob& job, const Device& device);
// Of all of them.
std::vector<std::string> RulesOfJobs();

}  // namespace foretell

#endif  // FORETELL_ANSWERS_TRAIN_CHECKS_H_
