#include "answers/rank_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/memory.h"
#include "answers/claims.h"
#include "answers/compile_step.h"
#include "graph/operation_row.h"
#include "passes/sharding/divide_step.h"
#include "passes/sharding/units.h"

namespace foretell {
namespace {

Refusal TooLarge() {
  InputError error;
  error.what = "a size passes 2^63 - 1";
  return Refusal{{std::move(error)}};
}

// A buffer is built with the parameters' dtype and stays as it is, where the
// step is written as if it had the dtype that parameters are gathered in.
bool CastsBuffers(const Graph& graph, const RankCase& rank) {
  if (!rank.param_dtype || *rank.param_dtype == rank.dtype) return false;
  return std::ranges::any_of(graph.buffers, [&](const Buffer& buffer) {
    return graph[buffer.value].dtype == *rank.param_dtype;
  });
}

// A block's arguments are cast to the dtype that its parameters are gathered
// in; the step is written as if they had it already.
bool CastsArguments(const Graph& graph, const RankCase& rank) {
  if (!rank.param_dtype) return false;
  const std::vector<RegionId> block = OutermostBlocks(graph);
  std::vector<std::optional<RegionId>> maker(graph.values.size());
  for (const Operation& operation : graph.operations) {
    if (!operation.region.valid()) continue;
    const RegionId here = block[operation.region.index];
    for (const ValueId made : graph.OutputsOf(operation)) {
      maker[made.index] = here;
    }
    if (!here.valid()) continue;
    for (const ValueId read : graph.InputsOf(operation)) {
      const Value& value = graph[read];
      if (maker[read.index] && *maker[read.index] != here &&
          Describe(value.dtype).is_floating &&
          value.dtype != *rank.param_dtype && value.shape.rank() > 0) {
        return true;
      }
    }
    if (operation.row->name.find("backward") != std::string_view::npos) break;
  }
  return false;
}

}  // namespace

StepCase StepOfRank(const Recording& recording) {
  StepCase step = recording.step;
  const RankCase& rank = recording.recorded_rank->rank;
  step.dtype = rank.param_dtype.value_or(rank.dtype);
  // None finds whole gradients where every micro-step is reduced, nor where
  // those of earlier ones lie joined.
  if (rank.reduces_always || rank.wrapper == Wrapper::kFsdp1) {
    step.accumulate = 1;
  }
  // The recorder asks the wrapped model for its arguments' names; adapters'
  // wrapper does not tell them, so that no labels are passed.
  if (step.lora) {
    if (rank.param_dtype) step.lora->float32 = false;  // gathered likewise
    step.inputs = {
        {"input_ids", DType::kInt64, Shape({step.batch, step.sequence})}};
  }
  return step;
}

std::variant<RankFigures, Refusal> DeriveRank(const ModelConfig& config,
                                              const BuildOptions& build,
                                              const Recording& recording) {
  const StepCase step = StepOfRank(recording);
  auto compiled = CompileStep(config, build, step);
  if (auto* refusal = std::get_if<Refusal>(&compiled)) {
    return std::move(*refusal);
  }
  CompiledStep& whole = std::get<CompiledStep>(compiled);
  auto figures = FiguresOf(whole);
  if (!figures) return TooLarge();
  RankFigures out;
  out.class_name = whole.model.built.class_name;
  out.parameters = whole.model.parameters.total;
  out.claims = ReasonsNotExact(whole, step).empty() &&
               recording.recorded_rank->unfollowed.empty() &&
               !CastsBuffers(whole.graph(), recording.recorded_rank->rank) &&
               !CastsArguments(whole.graph(), recording.recorded_rank->rank);
  std::vector<GradientOf> gradients;
  for (size_t i = 0; i < whole.gradients.size(); ++i) {
    gradients.push_back({whole.gradient_layouts[i].leaf, whole.gradients[i]});
  }
  std::vector<StateOf> states;
  for (const OptimizerState& state : whole.optimizer.states) {
    const StorageId storage = whole.graph()[state.tensor.id()].storage;
    states.push_back({state.leaf, storage, state.on_host});
  }
  Graph graph = whole.graph();
  RankCase rank = recording.recorded_rank->rank;
  rank.sums_outside = step.lora.has_value();
  const RankShare share = DivideStep(graph, rank, gradients, states);
  for (auto* flops : {&figures->flops_forward, &figures->flops_backward}) {
    for (auto& [name, count] : *flops) count *= rank.accumulate;
  }
  auto memory = AnalyzeRankMemory(graph, share.shifts);
  if (!memory) return TooLarge();
  for (const PhaseMemory& phase : memory->phases) {
    figures->figures["peak_" + std::string(NameOf(phase.phase))] = phase.peak;
  }
  figures->figures["parameter_bytes"] = share.parameter_bytes;
  figures->figures["gradient_bytes"] = share.gradient_bytes;
  figures->figures["optimizer_bytes"] = share.optimizer_bytes;
  figures->memory = *std::move(memory);
  out.step = *std::move(figures);
  for (const RankCollective& one : share.collectives) {
    out.collectives.push_back(
        fmt::format("{} {} {} of {}, {}, {} times", one.kind, one.dtype,
                    one.bytes, one.ranks, NameOf(one.phase), one.times));
  }
  return out;
}

}  // namespace foretell
