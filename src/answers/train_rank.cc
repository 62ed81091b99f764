#include "answers/train_rank.h"

#include <algorithm>
#include <string_view>

#include "base/dtype.h"
#include "engines/pytorch/device_memory.h"
#include "graph/operation_row.h"
#include "passes/sharding/units.h"

namespace foretell {

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

std::vector<std::string> ReasonsNotExact(const Graph& graph,
                                         const RankCase& rank) {
  std::vector<std::string> out;
  if (rank.wrapper == Wrapper::kFsdp1) {
    out.emplace_back(
        "FSDP 1 marks blocks with record_stream: what is freed may come back "
        "later");
  }
  if (CastsBuffers(graph, rank) || CastsArguments(graph, rank)) {
    out.emplace_back(
        "buffers or arguments of blocks are cast to the dtype that parameters "
        "are gathered in");
  }
  return out;
}

std::optional<RankCase> RankOf(const TrainingJob& job, const StepCase& step) {
  if (job.gpus < 2 || job.weights != WeightFormat::kNone) return std::nullopt;
  RankCase out;
  switch (job.sharding) {
    case Sharding::kDdp:
      out.wrapper = Wrapper::kDdp;
      break;
    case Sharding::kFsdp1:
      out.wrapper = Wrapper::kFsdp1;
      break;
    case Sharding::kFsdp2:
      out.wrapper = Wrapper::kFsdp2;
      break;
    case Sharding::kNone:
    case Sharding::kZero1:
    case Sharding::kZero2:
    case Sharding::kZero3:
      return std::nullopt;
  }
  out.ranks = job.gpus;
  out.dtype = job.float32_shares ? DType::kFloat32 : step.dtype;
  if (out.dtype != step.dtype) out.param_dtype = step.dtype;
  out.reduce_dtype = job.reduce_dtype;
  if (out.param_dtype && !out.reduce_dtype) out.reduce_dtype = out.param_dtype;
  out.prefetches = job.prefetches;
  out.has_ends = job.has_end_units;
  const bool some_frozen = step.lora.has_value() || !step.frozen.empty();
  out.frozen_apart = some_frozen && job.frozen_apart;
  // More micro-steps are alike.
  out.accumulate = std::min<int64_t>(job.accumulate, 2);
  // DDP adds up in what its buckets are views of either way.
  out.reduces_always = job.reduces_each && out.wrapper != Wrapper::kDdp;
  out.gradients_on_host = job.offload == Offload::kParameters;
  out.evaluates = step.evaluates;
  out.rounding = kAllocatorRounding;
  return out;
}

RankShare DivideCompiled(const CompiledStep& compiled, const RankCase& rank,
                         Graph& graph, std::span<const int64_t> copies) {
  std::vector<GradientOf> gradients;
  for (size_t i = 0; i < compiled.gradients.size(); ++i) {
    gradients.push_back(
        {compiled.gradient_layouts[i].leaf, compiled.gradients[i]});
  }
  std::vector<StateOf> states;
  for (const OptimizerState& state : compiled.optimizer.states) {
    const StorageId storage = graph[state.tensor.id()].storage;
    states.push_back({state.leaf, storage, state.on_host});
  }
  return DivideStep(graph, rank, gradients, states, copies);
}

}  // namespace foretell
