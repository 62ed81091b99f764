// Operations over lists of tensors, as torch._foreach_* runs them: one call
// for all tensors of a device and dtype.
//
// The lists of a call go in one after the other; they have equal lengths and
// agree tensor by tensor. What ends in _ writes into the first list and gives
// nothing out.
// Source of the rules: torch 2.15, aten/src/ATen/native/native_functions.yaml
// and ForeachOpsKernels.cpp. Only optimizers run these, under no_grad: none
// has a backward.
#ifndef FORETELL_GRAPH_OPS_FOREACH_H_
#define FORETELL_GRAPH_OPS_FOREACH_H_

#include <span>
#include <vector>

#include "graph/builder.h"
#include "graph/operation_row.h"

namespace foretell {

std::span<const OperationRow* const> ForeachOperations();

using TensorList = std::span<const Tensor>;

void ForeachAddNumberInto(TensorList targets, double number);
// The same tensor to each.
void ForeachAddInto(TensorList targets, const Tensor& other);
void ForeachMulNumberInto(TensorList targets, double number);
// A number for each target, which is no part of the graph.
void ForeachDivNumbersInto(TensorList targets);
// targets + weight (ends - targets)
void ForeachLerpInto(TensorList targets, TensorList ends, double weight);
// targets + value x y
void ForeachAddcmulInto(TensorList targets, TensorList x, TensorList y,
                        double value);
// targets + number x / y, with a number for each target.
void ForeachAddcdivInto(TensorList targets, TensorList x, TensorList y);
std::vector<Tensor> ForeachSqrt(TensorList x);

// AdamW in one kernel for all parameters. Five lists stand in one, one after
// another: parameters, gradients, averages, averages of squares, counts of
// steps. It writes the parameters and both averages.
void FusedAdamW(TensorList lists);

}  // namespace foretell

#endif  // FORETELL_GRAPH_OPS_FOREACH_H_
