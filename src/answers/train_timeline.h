// A training step's memory over its operations, with what the job lays over it.
//
// In: the step's occupancy, the overlay, how many points at most, and bytes of
// states that no graph holds. Out: a point per operation, or of each run of
// neighbours the highest. Temporaries take in what lives beside an operation,
// gathered parameters and buffers among it.
#ifndef FORETELL_ANSWERS_TRAIN_TIMELINE_H_
#define FORETELL_ANSWERS_TRAIN_TIMELINE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/occupancy.h"
#include "answers/train_overlay.h"
#include "graph/graph.h"

namespace foretell {

std::vector<MemoryPoint> TimelineOf(const Occupancy& occupancy,
                                    const Graph& graph, const Overlay& laid,
                                    size_t most_points, int64_t states);

}  // namespace foretell

#endif  // FORETELL_ANSWERS_TRAIN_TIMELINE_H_
