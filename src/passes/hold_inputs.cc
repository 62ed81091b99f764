#include "passes/hold_inputs.h"

#include <algorithm>

namespace foretell {
namespace {

// The outermost block that a region lies in; none where there is none.
RegionId BlockOf(const Graph& graph, RegionId region) {
  RegionId out;
  for (; region.valid(); region = graph[region].parent) {
    if (graph[region].kind == RegionKind::kBlock) out = region;
  }
  return out;
}

}  // namespace

std::vector<int64_t> HoldBlockInputs(const Graph& graph, int64_t input) {
  std::vector<int64_t> out(graph.operations.size());
  RegionId last;
  int64_t passed = -1;
  bool is_backward = false;
  size_t next = 0;
  for (uint32_t at = 0; at < graph.steps.size(); ++at) {
    while (next < graph.phases.size() && graph.phases[next].first_step <= at) {
      is_backward = graph.phases[next++].phase == Phase::kBackward;
    }
    const Step step = graph.steps[at];
    if (!is_backward || step.kind != Step::Kind::kOperation) continue;
    const RegionId block = BlockOf(graph, graph.operations[step.index].region);
    if (block.valid() && (!last.valid() || block.index != last.index)) {
      ++passed;
      last = block;
    }
    out[step.index] = 2 * input * std::max<int64_t>(0, passed);
  }
  return out;
}

}  // namespace foretell
