// What the backward nodes of operations in graph/ops/complex execute.
//
// Source of the rules: torch 2.15, torchgen/packaged/autograd/
// derivatives.yaml (view_as_complex, view_as_real, _conj).
#ifndef FORETELL_GRAPH_OPS_COMPLEX_GRADIENT_H_
#define FORETELL_GRAPH_OPS_COMPLEX_GRADIENT_H_

namespace foretell {

class Gradient;

void GradientOfViewAsComplex(Gradient& g);
void GradientOfViewAsReal(Gradient& g);
void GradientOfConj(Gradient& g);

}  // namespace foretell

#endif  // FORETELL_GRAPH_OPS_COMPLEX_GRADIENT_H_
