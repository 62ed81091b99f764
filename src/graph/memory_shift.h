// Memory that comes or goes beside what a graph's own operations hold: between
// its steps, in the order of a list.
//
//   {.before_step = 7, .phase = Phase::kForward, .bytes = +4096}
//
// A shift that ends a phase stands before the step that begins the next one,
// and tells its own phase.
#ifndef FORETELL_GRAPH_MEMORY_SHIFT_H_
#define FORETELL_GRAPH_MEMORY_SHIFT_H_

#include <cstdint>

#include "graph/graph.h"

namespace foretell {

// What the memory is for.
enum class ShiftKind : uint8_t {
  kGathered,       // whole parameters
  kCommunication,  // buffers that are sent, or received into
  kGradients,
};

struct MemoryShift {
  uint32_t before_step = 0;  // index into Graph::steps
  Phase phase = Phase::kForward;
  int64_t bytes = 0;  // negative: goes
  ShiftKind kind = ShiftKind::kCommunication;
};

}  // namespace foretell

#endif  // FORETELL_GRAPH_MEMORY_SHIFT_H_
