// Runs the forward of a checkpointed region again, as the first backward node
// of the region that needs one of its tensors has it done.
//
// In: the frame and a builder in its backward. Written: the region's
// operations once more, up to the last tensor that is needed (early stop),
// each kept tensor as a detached view. The tape then holds what the region's
// records would have kept. Source: torch 2.15, torch/utils/checkpoint.py
// (_recomputation_hook).
#ifndef FORETELL_PASSES_RECOMPUTE_H_
#define FORETELL_PASSES_RECOMPUTE_H_

#include "graph/builder.h"
#include "graph/tape.h"

namespace foretell {

void Recompute(Builder& builder, CheckpointFrame& frame);

}  // namespace foretell

#endif  // FORETELL_PASSES_RECOMPUTE_H_
