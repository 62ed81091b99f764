// Operations on single tensors that optimizers run, beside those that models
// share with them.
//
// They run under no_grad here, so no rule for their backward stands beside them
// (a model whose gradient passes through one is refused by the row's name).
// Source of the rules: torch 2.15, aten/src/ATen/native/Lerp.cpp,
// PointwiseOps.cpp, UnaryOps.cpp, TensorCompare.cpp (clamp_),
// LinearAlgebra.cpp (linalg_vector_norm).
#ifndef FORETELL_GRAPH_OPS_OPTIMIZER_H_
#define FORETELL_GRAPH_OPS_OPTIMIZER_H_

#include <span>

#include "graph/builder.h"
#include "graph/operation_row.h"

namespace foretell {

std::span<const OperationRow* const> OptimizerOperations();

// target + weight (end - target)
Tensor LerpInto(Tensor target, Tensor end, double weight);
// target + value x y
Tensor AddcmulInto(Tensor target, Tensor x, Tensor y, double value);
// target + value x / y
Tensor AddcdivInto(Tensor target, Tensor x, Tensor y, double value);
Tensor RsqrtInto(Tensor target);
// Of all elements: [].
Tensor VectorNorm(Tensor x);

}  // namespace foretell

#endif  // FORETELL_GRAPH_OPS_OPTIMIZER_H_
