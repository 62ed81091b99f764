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

#include "graph/builder.h"
#include "graph/operation_row.h"

namespace foretell {

std::span<const OperationRow* const> ActivationOperations();

Tensor Gelu(const Tensor& x);  // by erf
Tensor GeluTanh(const Tensor& x);
Tensor Relu(const Tensor& x);
Tensor Relu6(const Tensor& x);
Tensor LeakyRelu(const Tensor& x);
Tensor HardSwish(const Tensor& x);
Tensor Mish(const Tensor& x);
Tensor Softplus(const Tensor& x);
Tensor Tanh(const Tensor& x);
Tensor Sigmoid(const Tensor& x);
Tensor Erf(const Tensor& x);
Tensor Sqrt(const Tensor& x);
// x between two numbers.
Tensor Clamp(const Tensor& x, double least, double most);
// weight [1, …, 1] of the rank of x.
Tensor PreluKernel(const Tensor& x, const Tensor& weight);

}  // namespace foretell

#endif  // FORETELL_GRAPH_OPS_ACTIVATIONS_H_
