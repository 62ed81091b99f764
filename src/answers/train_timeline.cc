#include "answers/train_timeline.h"

#include <algorithm>

namespace foretell {
namespace {

constexpr size_t Index(MemoryKind kind) { return static_cast<size_t>(kind); }

// By operation, what a rank's share has added as it runs.
std::vector<int64_t> ShiftedBy(const Graph& graph, const Overlay& laid) {
  std::vector<int64_t> out(graph.operations.size());
  if (!laid.share) return out;
  size_t next = 0;
  int64_t sum = 0;
  const std::vector<MemoryShift>& shifts = laid.share->shifts;
  for (uint32_t at = 0; at < graph.steps.size(); ++at) {
    for (; next < shifts.size() && shifts[next].before_step <= at; ++next) {
      sum += shifts[next].bytes;
    }
    const Step step = graph.steps[at];
    if (step.kind == Step::Kind::kOperation) out[step.index] = sum;
  }
  return out;
}

}  // namespace

std::vector<MemoryPoint> TimelineOf(const Occupancy& occupancy,
                                    const Graph& graph, const Overlay& laid,
                                    size_t most_points, int64_t states) {
  std::vector<MemoryPoint> out = occupancy.Points(most_points);
  const std::vector<int64_t> shifted = ShiftedBy(graph, laid);
  for (MemoryPoint& point : out) {
    point.bytes[Index(MemoryKind::kStates)] += states;
    if (point.operation == 0) continue;
    const size_t at = point.operation - 1;
    int64_t& temporaries = point.bytes[Index(MemoryKind::kTemporary)];
    temporaries += laid.beside[at] + shifted[at];
    if (!laid.share || temporaries >= 0) continue;
    // Whole gradients that have gone are no longer among gradients.
    int64_t& gradients = point.bytes[Index(MemoryKind::kGradients)];
    gradients = std::max<int64_t>(0, gradients + temporaries);
    temporaries = 0;
  }
  return out;
}

}  // namespace foretell
