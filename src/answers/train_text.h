// A training job in words: its settings in one line, and what is taken for
// granted about it.
//
// In: the job. Out: text for people.
#ifndef FORETELL_ANSWERS_TRAIN_TEXT_H_
#define FORETELL_ANSWERS_TRAIN_TEXT_H_

#include <string>
#include <vector>

#include "spec/training_job.h"

namespace foretell {

// "full, batch 8, 4,096 tokens, bfloat16, sdpa attention, adamw_fused"
std::string SettingOf(const TrainingJob& job);
// The length, dtype and kernels that methods share, in one line.
std::string SettingOfFits(const TrainingJob& job);

std::vector<std::string> AssumptionsOf(const TrainingJob& job);

}  // namespace foretell

#endif  // FORETELL_ANSWERS_TRAIN_TEXT_H_
