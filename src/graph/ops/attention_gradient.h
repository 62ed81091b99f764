// The backward of fused attention: one operation gives the gradients of query,
// key, value and, where the kernel has one, of the bias.
//
// Source of the rules: torch 2.15, torchgen/packaged/autograd/
// derivatives.yaml (_scaled_dot_product_*_attention).
#ifndef FORETELL_GRAPH_OPS_ATTENTION_GRADIENT_H_
#define FORETELL_GRAPH_OPS_ATTENTION_GRADIENT_H_

#include "graph/gradient.h"

namespace foretell {

void GradientOfCudnnAttention(Gradient& g);
void GradientOfEfficientAttention(Gradient& g);
void GradientOfFlashAttention(Gradient& g);

}  // namespace foretell

#endif  // FORETELL_GRAPH_OPS_ATTENTION_GRADIENT_H_
