// What the backward nodes of views and copies execute.
//
// Each is the `gradient` of the rows of graph/ops/views that its name says;
// graph/gradient.h says what a rule does and what it leaves to the engine.
// Source of the rules: torch 2.15, torchgen/packaged/autograd/
// derivatives.yaml, torch/csrc/autograd/FunctionsManual.cpp (permute_backwards,
// unsqueeze_to, split_backward).
#ifndef FORETELL_GRAPH_OPS_VIEWS_GRADIENT_H_
#define FORETELL_GRAPH_OPS_VIEWS_GRADIENT_H_

namespace foretell {

class Gradient;

void GradientOfT(Gradient& g);
void GradientOfView(Gradient& g);
void GradientOfTranspose(Gradient& g);
void GradientOfPermute(Gradient& g);
void GradientOfUnsqueeze(Gradient& g);
void GradientOfSqueeze(Gradient& g);
void GradientOfSlice(Gradient& g);
void GradientOfSelect(Gradient& g);
void GradientOfSplit(Gradient& g);
void GradientOfUnbind(Gradient& g);
// The gradient itself: of alias and clone, and of expand, whose sum over the
// widened axes is the engine's.
void GradientOfSame(Gradient& g);

}  // namespace foretell

#endif  // FORETELL_GRAPH_OPS_VIEWS_GRADIENT_H_
