// The backward of operations that hand out what their backward needs.
//
// Source of the rules: torch 2.15, torchgen/packaged/autograd/
// derivatives.yaml (native_dropout, native_layer_norm).
#ifndef FORETELL_GRAPH_OPS_FUSED_GRADIENT_H_
#define FORETELL_GRAPH_OPS_FUSED_GRADIENT_H_

#include "graph/gradient.h"

namespace foretell {

void GradientOfDropout(Gradient& g);
void GradientOfLayerNorm(Gradient& g);

}  // namespace foretell

#endif  // FORETELL_GRAPH_OPS_FUSED_GRADIENT_H_
