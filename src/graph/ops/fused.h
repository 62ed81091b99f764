// Operations that give a result together with what its backward needs: dropout
// with its mask, layer normalisation with its statistics.
//
// Source of the rules: torch 2.15, aten/src/ATen/native/cuda/Dropout.cu
// (native_dropout), layer_norm_kernel.cu (layer_norm_cuda).
#ifndef FORETELL_GRAPH_OPS_FUSED_H_
#define FORETELL_GRAPH_OPS_FUSED_H_

#include <span>
#include <vector>

#include "graph/builder.h"
#include "graph/operation_row.h"

namespace foretell {

std::span<const OperationRow* const> FusedOperations();

// x with elements set to zero; the mask is bool, of the shape of x.
Tensor NativeDropout(Tensor x, double probability);
// x [..., width] normalised over its last axis; mean and reciprocal deviation
// are [..., 1] float32. Without a bias, or without both, they are empty.
Tensor NativeLayerNorm(Tensor x, Tensor weight, Tensor bias, double epsilon);
// What their backward gives: that of x; those of x, weight and bias, as far as
// `wanted` (ones and zeros) asks for them. `inputs` are the gradient, x, mean,
// deviation, and weight and bias where there are any.
Tensor NativeDropoutBackward(Tensor grad, Tensor mask, double scale);
std::vector<Tensor> NativeLayerNormBackward(std::span<const Tensor> inputs,
                                            const Shape& wanted);

}  // namespace foretell

#endif  // FORETELL_GRAPH_OPS_FUSED_H_
