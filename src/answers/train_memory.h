// What one card holds at the peak of a training job, term by term.
//
// The step is compiled operation by operation, then passes lay over it what
// the job adds: packed weights, a fused loss, a rank's share. The living
// tensors at each phase's peak are split by what they are for; what libraries,
// the allocator and the driver take is added as terms of its own.
//
// In: a configuration, how the model is built, the job. Out: terms whose sum
// is the peak, with the reasons for which it is an estimate; or the refusal of
// a step that cannot be written.
#ifndef FORETELL_ANSWERS_TRAIN_MEMORY_H_
#define FORETELL_ANSWERS_TRAIN_MEMORY_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "answers/compile_step.h"
#include "answers/refusal.h"
#include "base/figure.h"
#include "graph/graph.h"
#include "models/build.h"
#include "spec/model_config.h"
#include "spec/training_job.h"

namespace foretell {

struct MemoryTerm {
  std::string name;  // "weights", "gradients", "logits and loss", …
  int64_t bytes = 0;
};

struct TrainPhase {
  Phase phase = Phase::kForward;
  int64_t peak = 0;  // bytes of tensors
};

struct TrainMemory {
  std::vector<TrainPhase> phases;
  Phase peak_phase = Phase::kForward;
  std::string operation;  // that reached it; empty where the phase began so
  std::string module;
  std::vector<MemoryTerm> terms;  // of tensors at the peak, largest first
  int64_t tensors = 0;            // their sum
  Bytes workspaces;               // of libraries
  Bytes allocated;                // tensors and workspaces
  Bytes slack;                    // of the allocator
  Bytes reserved;                 // allocated and slack
  Bytes outside;                  // context, communicator
  Bytes device;                   // what nvidia-smi would show
  int64_t managed = 0;            // of paged optimizers
  int64_t host = 0;               // offloaded to the host
  int64_t operations = 0;         // that were compiled
  int64_t flops = 0;              // of the step, recomputation included
  int64_t trained = 0;            // parameters that train
  std::vector<std::string> not_exact;
};

// Optimizers that no pass writes operation by operation, by name.
std::vector<std::string_view> OptimizersOfOtherLibraries();

std::variant<TrainMemory, Refusal> TrainMemoryOf(const ModelConfig& config,
                                                 const BuildOptions& build,
                                                 const TrainingJob& job);

}  // namespace foretell

#endif  // FORETELL_ANSWERS_TRAIN_MEMORY_H_
