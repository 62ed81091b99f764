// Convolutions over one or more axes, grouped or not.
//
// x [batch, channels, extents...], weight [out, channels / groups, window...]
// and a bias [out] or none -> [batch, out, extents...].
// Source: torch 2.15, aten/src/ATen/native/Convolution.cpp, ConvUtils.h
// (conv_output_size); FLOPs as torch/utils/flop_counter.py (conv_flop_count).
// It does not model transposed convolutions, nor layouts with channels last.
#ifndef FORETELL_GRAPH_OPS_CONVOLUTION_H_
#define FORETELL_GRAPH_OPS_CONVOLUTION_H_

#include <cstdint>
#include <span>
#include <vector>

#include "graph/builder.h"
#include "graph/operation_row.h"

namespace foretell {

std::span<const OperationRow* const> ConvolutionOperations();

// One number per axis that the window moves along.
struct ConvolutionSteps {
  Shape stride;
  Shape padding;  // at either end
  Shape dilation;
  int64_t groups = 1;
};

// `bias` may be empty.
Tensor Convolution(Tensor x, Tensor weight, Tensor bias,
                   const ConvolutionSteps& steps);
// The gradients of x, weight and bias, those that are wanted (not 0).
std::vector<Tensor> ConvolutionBackward(Tensor grad, Tensor x, Tensor weight,
                                        const ConvolutionSteps& steps,
                                        const Shape& wanted);

}  // namespace foretell

#endif  // FORETELL_GRAPH_OPS_CONVOLUTION_H_
