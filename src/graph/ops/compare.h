// Comparisons of each element with a number, beside those of
// graph/ops/elementwise.
//
// Source of the rules: torch 2.15, aten/src/ATen/native/BinaryOps.cpp.
#ifndef FORETELL_GRAPH_OPS_COMPARE_H_
#define FORETELL_GRAPH_OPS_COMPARE_H_

#include <span>

#include "graph/builder.h"
#include "graph/operation_row.h"

namespace foretell {

std::span<const OperationRow* const> CompareOperations();

Tensor GeScalar(Tensor x, double y);

}  // namespace foretell

#endif  // FORETELL_GRAPH_OPS_COMPARE_H_
