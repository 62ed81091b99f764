// What the backward nodes of operations in graph/ops/creation execute.
//
// Almost all of those make numbers, which have no gradient.
// Source of the rule: torch 2.15, torchgen/packaged/autograd/derivatives.yaml.
#ifndef FORETELL_GRAPH_OPS_CREATION_GRADIENT_H_
#define FORETELL_GRAPH_OPS_CREATION_GRADIENT_H_

namespace foretell {

class Gradient;

void GradientOfTril(Gradient& g);

}  // namespace foretell

#endif  // FORETELL_GRAPH_OPS_CREATION_GRADIENT_H_
