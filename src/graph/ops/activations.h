// Activation functions that PyTorch runs as one operation each.
//
// Those that transformers writes out in Python ("gelu_new") are several
// operations and stand in models/layers/activation.h.
// Source of the rules: torch 2.15, aten/src/ATen/native/Activation.cpp; which
// of them keep their own result for the backward: tools/autograd/
// derivatives.yaml.
#ifndef FORETELL_GRAPH_OPS_ACTIVATIONS_H_
#define FORETELL_GRAPH_OPS_ACTIVATIONS_H_

#include <span>
#include <vector>

#include "graph/builder.h"
#include "graph/operation_row.h"

namespace foretell {

std::span<const OperationRow* const> ActivationOperations();

Tensor Gelu(Tensor x);  // by erf
Tensor GeluTanh(Tensor x);
Tensor Relu(Tensor x);
Tensor Relu6(Tensor x);
Tensor LeakyRelu(Tensor x);
Tensor HardSwish(Tensor x);
Tensor Mish(Tensor x);
Tensor Softplus(Tensor x);
Tensor Tanh(Tensor x);
Tensor Sigmoid(Tensor x);
Tensor Erf(Tensor x);
Tensor Sqrt(Tensor x);
// x between two numbers.
Tensor Clamp(Tensor x, double least, double most);
Tensor ClampMost(Tensor x, double most);    // from above only
Tensor ClampLeast(Tensor x, double least);  // from below only
// weight [1, …, 1] of the rank of x.
Tensor PreluKernel(Tensor x, Tensor weight);

// The gradients, of the result's gradient and of what the function kept.
Tensor SiluBackward(Tensor grad, Tensor x);
Tensor GeluBackward(Tensor grad, Tensor x);
Tensor ThresholdBackward(Tensor grad, Tensor result);
Tensor HardtanhBackward(Tensor grad, Tensor x);
Tensor LeakyReluBackward(Tensor grad, Tensor x);
Tensor HardSwishBackward(Tensor grad, Tensor x);
Tensor MishBackward(Tensor grad, Tensor x);
Tensor SoftplusBackward(Tensor grad, Tensor x);
Tensor TanhBackward(Tensor grad, Tensor result);
Tensor SigmoidBackward(Tensor grad, Tensor result);
// Of x and, before it is summed to its extents, of the weight.
std::vector<Tensor> PreluKernelBackward(Tensor grad, Tensor x, Tensor weight);

}  // namespace foretell

#endif  // FORETELL_GRAPH_OPS_ACTIVATIONS_H_
