// The backward of convolutions: one operation gives the gradients of x, the
// weight and the bias.
//
// Source of the rules: torch 2.15, torchgen/packaged/autograd/derivatives.yaml
// (convolution).
#ifndef FORETELL_GRAPH_OPS_CONVOLUTION_GRADIENT_H_
#define FORETELL_GRAPH_OPS_CONVOLUTION_GRADIENT_H_

#include "graph/gradient.h"

namespace foretell {

void GradientOfConvolution(Gradient& g);

}  // namespace foretell

#endif  // FORETELL_GRAPH_OPS_CONVOLUTION_GRADIENT_H_
