// Compiles one step of a model: the readable list of what happens to a
// configuration until the sequence of operations stands.
//
//   parameters -> frozen, adapters -> forward -> loss -> backward -> optimizer
//
// Where gradients of several micro-batches are added up, the last of them is
// written: the gradients of those before it lie there from the start, as one
// backward leaves them.
//
// What decides which operations the source executes (what trains, adapters,
// precision) is applied before the forward is written: kernels are chosen by
// dtypes and by whether a gradient is needed.
//
// In: a configuration and the case. Out: the graph with its phases, or a
// refusal that names the place and the cure.
#ifndef FORETELL_ANSWERS_COMPILE_STEP_H_
#define FORETELL_ANSWERS_COMPILE_STEP_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "answers/read_model.h"
#include "answers/refusal.h"
#include "models/build.h"
#include "passes/backward.h"
#include "passes/optimizer.h"
#include "spec/model_config.h"
#include "spec/step_case.h"

namespace foretell {

enum class StopAfter : uint8_t { kForward, kBackward, kOptimizer };

// Where and how a leaf's gradient lies once a backward has run.
struct GradientLayout {
  ValueId leaf;
  Shape shape;
  Shape strides;
  DType dtype = DType::kFloat32;
};

struct CompiledStep {
  ReadModel model;
  int64_t gradient_bytes = 0;               // of all parameters that train
  int64_t optimizer_bytes = 0;              // of its states, after the step
  std::optional<int64_t> cache_bytes = {};  // of generation, where it fills one
  // Storages that hold gradients, states and what the caller got back from
  // the forward, for tables.
  std::vector<StorageId> gradients = {};
  std::vector<GradientLayout> gradient_layouts = {};
  std::vector<StorageId> states = {};
  std::vector<StorageId> cache = {};  // of generation, before and after
  std::vector<StorageId> returned = {};
  OptimizerResult optimizer = {};  // holds the states

  const Graph& graph() const { return *model.built.graph; }
};

std::variant<CompiledStep, Refusal> CompileStep(
    const ModelConfig& config, const BuildOptions& build, const StepCase& step,
    StopAfter stop = StopAfter::kOptimizer);

// The same as far as it goes: what was written until `reason`, which is empty
// where all of it stands. Nothing compiled where there is no model.
struct PartialStep {
  std::optional<CompiledStep> compiled;
  std::string reason;
};
PartialStep CompilePartly(const ModelConfig& config, const BuildOptions& build,
                          const StepCase& step, StopAfter stop);

// The tensors that go into the class's forward: `step.inputs`, or what the
// class takes at the step's sizes.
std::vector<StepInput> InputsOf(const BuiltModel& built, const StepCase& step);

}  // namespace foretell

#endif  // FORETELL_ANSWERS_COMPILE_STEP_H_
