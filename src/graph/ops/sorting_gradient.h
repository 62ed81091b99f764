// What the backward nodes of topk and sort execute.
//
// The gradient of the chosen elements goes back to where they were.
// Source of the rule: torch 2.15, torch/csrc/autograd/FunctionsManual.cpp
// (value_selecting_reduction_backward).
#ifndef FORETELL_GRAPH_OPS_SORTING_GRADIENT_H_
#define FORETELL_GRAPH_OPS_SORTING_GRADIENT_H_

namespace foretell {

class Gradient;

void GradientOfChosen(Gradient& g);

}  // namespace foretell

#endif  // FORETELL_GRAPH_OPS_SORTING_GRADIENT_H_
