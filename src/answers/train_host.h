// What a training job takes of its host and of the disk
// (engines/pytorch/host_memory.h).
//
// In: the job, what one card holds, and the host's memory where it is stated.
// Out: terms, the most at one time, and a finding where that is too much.
#ifndef FORETELL_ANSWERS_TRAIN_HOST_H_
#define FORETELL_ANSWERS_TRAIN_HOST_H_

#include <optional>
#include <vector>

#include "answers/train_memory.h"
#include "base/figure.h"
#include "base/finding.h"
#include "engines/pytorch/host_memory.h"
#include "spec/training_job.h"

namespace foretell {

struct TrainHost {
  std::vector<HostTerm> memory;
  Bytes peak;
  std::vector<HostTerm> disk;
  std::optional<Finding> finding;
};

TrainHost HostOf(const TrainingJob& job, const TrainMemory& memory,
                 std::optional<double> host_gib);

}  // namespace foretell

#endif  // FORETELL_ANSWERS_TRAIN_HOST_H_
