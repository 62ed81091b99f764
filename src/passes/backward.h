// loss.backward(): what autograd's engine executes, in its order.
//
// In: a builder whose forward has been recorded, and the loss. Written into
// the graph: the operations of every backward node, the sums where gradients
// meet, and when each tensor is let go. Out: what the leaves' `.grad` hold.
//
// The engine runs the ready node with the highest sequence number; a leaf's
// accumulation before any other. A first gradient is taken over where its
// layout is the leaf's and nobody else holds it, and copied otherwise; a later
// one is added in place. Gradients that meet at a node are added out of place,
// which is what tensor subclasses do; a plain tensor that nobody else holds
// would be added to in place.
// Source: torch 2.15, torch/csrc/autograd/engine.cpp, input_buffer.cpp,
// functions/accumulate_grad.h, utils/grad_layout_contract.h.
//
// A row without a rule for its backward is a failure of the builder.
#ifndef FORETELL_PASSES_BACKWARD_H_
#define FORETELL_PASSES_BACKWARD_H_

#include <vector>

#include "graph/builder.h"

namespace foretell {

// What a leaf (a parameter) holds as its gradient.
struct LeafGradient {
  ValueId leaf;
  Tensor gradient;
};

// `held` are gradients of earlier micro-batches, to which these are added.
std::vector<LeafGradient> Backward(const Tensor& loss,
                                   std::vector<LeafGradient> held = {});

}  // namespace foretell

#endif  // FORETELL_PASSES_BACKWARD_H_
