// What could be changed of a training job so that it takes less, the least
// invasive change first.
//
// In: a job. Out: changed jobs with the option that asks for each; only those
// that differ from the job. What they give is for others to compile.
#ifndef FORETELL_ANSWERS_TRAIN_LEVERS_H_
#define FORETELL_ANSWERS_TRAIN_LEVERS_H_

#include <string>
#include <vector>

#include "spec/training_job.h"

namespace foretell {

struct JobChange {
  std::string what;
  std::string option;
  std::string training;  // how it changes what is trained; empty: it does not
  TrainingJob job;
};

std::vector<JobChange> ChangesOf(const TrainingJob& job);

}  // namespace foretell

#endif  // FORETELL_ANSWERS_TRAIN_LEVERS_H_
