// What the slopes of linear biases are made by: powers, one number spread over
// a tensor, every so many whole numbers; and the larger of two.
//
// Source of the rules: torch 2.15, aten/src/ATen/native/Pow.cpp,
// TensorFactories.cpp, BinaryOps.cpp, torch/csrc/autograd/FunctionsManual.cpp
// (the gradient of maximum).
#ifndef FORETELL_GRAPH_OPS_POWERS_H_
#define FORETELL_GRAPH_OPS_POWERS_H_

#include <cstdint>
#include <span>

#include "graph/builder.h"
#include "graph/operation_row.h"

namespace foretell {

std::span<const OperationRow* const> PowerOperations();

// Whole numbers from start on, below end, every `step`.
Tensor WholesFrom(Builder& builder, int64_t start, int64_t end, DType dtype);
Tensor WholesBy(Builder& builder, int64_t start, int64_t end, int64_t step,
                DType dtype);
// One number at every element.
Tensor Full(Builder& builder, const Shape& shape, double value, DType dtype);
Tensor Pow(Tensor x, Tensor y);
Tensor PowOfNumber(double x, Tensor y);
Tensor Reciprocal(Tensor x);
Tensor Log1p(Tensor x);  // log(1 + x); without a backward
Tensor Maximum(Tensor x, Tensor y);

}  // namespace foretell

#endif  // FORETELL_GRAPH_OPS_POWERS_H_
