// Operations that write into their first input: their result is the same
// tensor under the same storage.
//
// Source of the rules: torch 2.15, aten/src/ATen/native/Copy.cpp, Fill.cpp,
// TensorAdvancedIndexing.cpp (masked_fill_), BinaryOps.cpp.
#ifndef FORETELL_GRAPH_OPS_IN_PLACE_H_
#define FORETELL_GRAPH_OPS_IN_PLACE_H_

#include <span>

#include "graph/builder.h"
#include "graph/operation_row.h"

namespace foretell {

std::span<const OperationRow* const> InPlaceOperations();

Tensor AddInto(const Tensor& target, const Tensor& other);
Tensor MulInto(const Tensor& target, const Tensor& other);
Tensor DivInto(const Tensor& target, const Tensor& other);
Tensor CopyInto(const Tensor& target, const Tensor& source);
Tensor FillWith(const Tensor& target, double value);
// target[index] = values, for whole numbers along the first axis.
Tensor IndexPut(const Tensor& target, const Tensor& index,
                const Tensor& values);
Tensor FillUniform(const Tensor& target);  // random numbers
// Where `mask` is true, `value`.
Tensor FillWhere(const Tensor& target, const Tensor& mask, double value);

}  // namespace foretell

#endif  // FORETELL_GRAPH_OPS_IN_PLACE_H_
