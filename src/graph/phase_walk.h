// Which phase of a step each of a graph's steps belongs to.
//
// `PhaseWalk` answers for steps that are asked for in order; a graph without
// phases is a forward. `ForEachOperation` calls `visit(operation, phase)` for
// all operations, drops passed over.
#ifndef FORETELL_GRAPH_PHASE_WALK_H_
#define FORETELL_GRAPH_PHASE_WALK_H_

#include <cstddef>
#include <cstdint>

#include "graph/graph.h"

namespace foretell {

class PhaseWalk {
 public:
  explicit PhaseWalk(const Graph& graph) : graph_(&graph) {}

  // `step` is no smaller than the one before.
  Phase At(uint32_t step) {
    while (next_ < graph_->phases.size() &&
           graph_->phases[next_].first_step <= step) {
      phase_ = graph_->phases[next_++].phase;
    }
    return phase_;
  }

 private:
  const Graph* graph_;
  size_t next_ = 0;
  Phase phase_ = Phase::kForward;
};

template <class Visit>
void ForEachOperation(const Graph& graph, const Visit& visit) {
  PhaseWalk phases(graph);
  for (uint32_t at = 0; at < graph.steps.size(); ++at) {
    const Phase phase = phases.At(at);
    const Step step = graph.steps[at];
    if (step.kind == Step::Kind::kOperation) {
      visit(graph.operations[step.index], phase);
    }
  }
}

}  // namespace foretell

#endif  // FORETELL_GRAPH_PHASE_WALK_H_
