// What a training job lays over the storages of a compiled step: packed
// weights, another loss, other kernels, a rank's share, activations on the
// host.
//
// In: a compiled step and the job. Changed: the bytes of the graph's storages,
// each rounded as the allocator does. Out: what lives beside each operation,
// which storages are as large as the logits, and why the bytes are no longer
// exact; or the refusal of a job that cannot be laid over.
#ifndef FORETELL_ANSWERS_TRAIN_OVERLAY_H_
#define FORETELL_ANSWERS_TRAIN_OVERLAY_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "answers/compile_step.h"
#include "answers/refusal.h"
#include "passes/logits.h"
#include "passes/sharding/divide_step.h"
#include "spec/step_case.h"
#include "spec/training_job.h"

namespace foretell {

// Bytes by operation under the name of what they are for: "gathered and
// communication". Negative where something is not there that the graph holds.
struct Beside {
  std::string term;
  std::vector<int64_t> bytes;
};

struct Overlay {
  Logits logits;
  std::vector<bool> is_logits;  // by storage
  std::vector<Beside> besides;
  std::vector<int64_t> beside;  // their sum
  bool is_shared = false;       // among several cards
  // Where PyTorch's own wrappers divide the step.
  std::optional<RankShare> share;
  int64_t to_host = 0;  // activations
  std::vector<std::string> not_exact;
};

// `copies` says how often each region happens in the whole model.
std::variant<Overlay, Refusal> LayOver(CompiledStep& compiled,
                                       const StepCase& step,
                                       const TrainingJob& job,
                                       std::span<const int64_t> copies);

// A size of the job that 64 bits do not hold.
Refusal TooLargeJob();

}  // namespace foretell

#endif  // FORETELL_ANSWERS_TRAIN_OVERLAY_H_
