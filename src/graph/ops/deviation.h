// Standard deviations, the inverse of the error function and a look whether all
// elements are true: what a threshold by quantiles of a normal distribution is
// made of.
//
// Source of the rules: torch 2.15, aten/src/ATen/native/ReduceOps.cpp (std),
// UnaryOps.cpp, torch/csrc/autograd/FunctionsManual.cpp (std_backward,
// var_backward).
#ifndef FORETELL_GRAPH_OPS_DEVIATION_H_
#define FORETELL_GRAPH_OPS_DEVIATION_H_

#include <span>

#include "graph/builder.h"
#include "graph/operation_row.h"

namespace foretell {

std::span<const OperationRow* const> DeviationOperations();

// Over the last axis, which stays as 1, without Bessel's correction.
Tensor StdLast(Tensor x);
Tensor Erfinv(Tensor x);
Tensor IsAllTrue(Tensor x);  // [] bool

}  // namespace foretell

#endif  // FORETELL_GRAPH_OPS_DEVIATION_H_
