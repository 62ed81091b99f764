// Operations that gather along axes: sums, means, softmax, scans.
//
// Source of the rules: torch 2.15, aten/src/ATen/native/ReduceOps.cpp,
// SoftMax.cpp.
#ifndef FORETELL_GRAPH_OPS_REDUCTION_H_
#define FORETELL_GRAPH_OPS_REDUCTION_H_

#include <optional>
#include <span>
#include <vector>

#include "graph/builder.h"
#include "graph/operation_row.h"

namespace foretell {

std::span<const OperationRow* const> ReductionOperations();

Tensor MeanLast(Tensor x);            // over the last axis, which stays as 1
Tensor MeanOver(Tensor x, int axis);  // which goes
Tensor Argmax(Tensor x, int axis);    // [...] int64; the axis goes
// Over `axis`, in the dtype of `x`, or in float32 as autocast asks; keeps its
// shape.
Tensor SoftmaxOp(Tensor x, int axis);
// torch.softmax(x, axis, dtype=x.dtype): also under autocast.
Tensor SoftmaxAsIs(Tensor x, int axis);
// torch.softmax(x, axis, dtype=float32): float16 is read as it is.
Tensor SoftmaxInFloat(Tensor x, int axis);
// Rows of minus infinity give zeros.
Tensor SafeSoftmax(Tensor x, int axis);
// As cross_entropy calls it: autocast leaves it in the dtype of `x`.
Tensor LogSoftmaxOp(Tensor x, int axis);
// What their backward gives, in the dtype of their input.
Tensor SoftmaxBackward(Tensor grad, Tensor output, int axis, DType dtype);
Tensor LogSoftmaxBackward(Tensor grad, Tensor output, int axis, DType dtype);
// Whole numbers and bool give int64 where no dtype is asked for.
Tensor Cumsum(Tensor x, int axis, std::optional<DType> dtype = std::nullopt);
Tensor SumAll(Tensor x);                        // []
Tensor Max(Tensor x);                           // [], of all
Tensor SumOver(Tensor x, int axis, bool keep);  // stays as 1, or goes
// Over several axes, named from the front.
Tensor SumAxes(Tensor x, const Shape& axes, bool keep);
Tensor Any(Tensor x);  // [] bool
Tensor All(Tensor x);  // [] bool

}  // namespace foretell

#endif  // FORETELL_GRAPH_OPS_REDUCTION_H_
