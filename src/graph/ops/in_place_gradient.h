// What the backward nodes of operations in place execute.
//
// What they overwrote had its gradient through the values that it held before.
// Source of the rules: torch 2.15, torchgen/packaged/autograd/
// derivatives.yaml; torch/csrc/autograd/functions/tensor.cpp (CopyBackwards).
// Writing through a view: graph/view_write.h.
#ifndef FORETELL_GRAPH_OPS_IN_PLACE_GRADIENT_H_
#define FORETELL_GRAPH_OPS_IN_PLACE_GRADIENT_H_

namespace foretell {

class Gradient;

void GradientOfCopyInto(Gradient& g);
void GradientOfScatterInto(Gradient& g);
void GradientOfIndexAdd(Gradient& g);
// fill_ and uniform_: nothing of what was there counts.
void GradientOfOverwritten(Gradient& g);

}  // namespace foretell

#endif  // FORETELL_GRAPH_OPS_IN_PLACE_GRADIENT_H_
