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

Tensor AddInto(Tensor target, Tensor other);
Tensor AddScalarInto(Tensor target, double number);
Tensor MulInto(Tensor target, Tensor other);
Tensor SubScalarInto(Tensor target, double number);
Tensor MulScalarInto(Tensor target, double number);
Tensor DivScalarInto(Tensor target, double number);
// Held between two numbers.
Tensor ClampInto(Tensor target, double least, double most);
Tensor ClampInto(Tensor target, double least);  // from below only
Tensor DivInto(Tensor target, Tensor other);
// What ATen's own code divides by.
Tensor DivNumberInto(Tensor target, double number);
Tensor LogicalAndInto(Tensor target, Tensor other);
// target.set_(source): the target takes on the source's storage.
Tensor SetTo(Tensor target, Tensor source);
Tensor CopyInto(Tensor target, Tensor source);
Tensor FillWith(Tensor target, double value);
// target[index] = values, for whole numbers along the first axis.
Tensor IndexPut(Tensor target, Tensor index, Tensor values);
// target[..., index[..., j], ...] = value along `axis`, for every j.
Tensor ScatterValue(Tensor target, int axis, Tensor index, double value);
// target[index[j]] += rows[j] for whole numbers along the first axis.
Tensor IndexAdd(Tensor target, Tensor index, Tensor rows);
Tensor FillUniform(Tensor target);  // random numbers
Tensor FillExponential(Tensor target);
// target[i][index[i][j]] += values[i][j], along axis 1
Tensor ScatterAddInto(Tensor target, int axis, Tensor index, Tensor values);
// Where `mask` is true, `value`.
// target with values written along an axis by an index.
Tensor ScatterInto(Tensor target, int axis, Tensor index, Tensor values);
Tensor FillWhere(Tensor target, Tensor mask, double value);

}  // namespace foretell

#endif  // FORETELL_GRAPH_OPS_IN_PLACE_H_
