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

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "analysis/occupancy.h"
#include "answers/block_pattern.h"
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
  // Of tensors, on the card: all states and master copies; the gradients of a
  // step; what stays between two steps; the largest tensor that is gathered
  // whole where cards divide the model.
  int64_t states = 0;
  int64_t gradients = 0;
  int64_t stays = 0;
  BytesByKind staying = {};  // the same by what it is for
  int64_t largest_gathered = 0;
  // Of the whole model, as a file has it; of one rank, all states, wherever.
  int64_t file_bytes = 0;
  int64_t all_states = 0;
  int64_t managed = 0;     // of paged optimizers
  int64_t host = 0;        // states and weights that live on the host
  int64_t to_host = 0;     // activations that wait there
  int64_t operations = 0;  // that were compiled
  int64_t flops = 0;       // of the step, recomputation included
  int64_t trained = 0;     // parameters that train
  std::vector<std::string> not_exact;
  std::vector<MemoryPoint> timeline;  // of tensors, where it was asked for
};

// A forward of the job's model without gradients: an evaluation, or the
// reference that a preference loss compares with.
struct ForwardMemory {
  int64_t above = 0;      // at its peak, beside what is there before it
  int64_t logits = 0;     // bytes of the logits that it returns
  std::string operation;  // that reached the peak
  std::string module;
  std::vector<std::string> not_exact;
  std::vector<MemoryPoint> timeline;  // where it was asked for
};

// Optimizers that no pass writes operation by operation, by name.
std::vector<std::string_view> OptimizersOfOtherLibraries();

// The step of the job as it is compiled: what is not packed may be float32,
// with products in the packed weights' own dtype.
StepCase CompiledCaseOf(const TrainingJob& job);

// One model for many jobs: which of its blocks are equal is found out once, and
// a job is compiled with few of them (analysis/folded_memory.h) wherever they
// stand for all.
class TrainModel {
 public:
  // `config` outlives it.
  TrainModel(const ModelConfig& config, BuildOptions build);
  // `built` is that model with all of its blocks.
  TrainModel(const ModelConfig& config, BuildOptions build,
             const BuiltModel& built);

  // With a timeline of at most so many points, for which all blocks are
  // compiled.
  std::variant<TrainMemory, Refusal> MemoryOf(const TrainingJob& job,
                                              size_t most_points = 0);

  // The forward and loss of `job.step.batch` sequences under no_grad.
  std::variant<ForwardMemory, Refusal> ForwardOf(const TrainingJob& job,
                                                 size_t most_points = 0);

 private:
  // Compiles `step` and hands it to `account`: with few blocks where they
  // stand for all (`account` then gives something), else with all.
  template <class Answer, class Account>
  std::variant<Answer, Refusal> Compiled(const StepCase& step, StopAfter stop,
                                         bool may_fold, bool gathers,
                                         const Account& account);

  const ModelConfig* config_;
  BuildOptions build_;
  std::vector<BlockPattern> patterns_;
  int64_t first_later_ = 0;  // the first plan that held
};

std::variant<TrainMemory, Refusal> TrainMemoryOf(const ModelConfig& config,
                                                 const BuildOptions& build,
                                                 const TrainingJob& job);

}  // namespace foretell

#endif  // FORETELL_ANSWERS_TRAIN_MEMORY_H_
