// Operations that give another view of the same storage, and the copies that
// stand in where a view is not possible.
//
// Source of the rules: torch 2.15, aten/src/ATen/native/TensorShape.cpp.
#ifndef FORETELL_GRAPH_OPS_VIEWS_H_
#define FORETELL_GRAPH_OPS_VIEWS_H_

#include <span>
#include <vector>

#include "graph/builder.h"
#include "graph/operation_row.h"

namespace foretell {

std::span<const OperationRow* const> ViewOperations();

Tensor T(Tensor x);  // [m, n] -> [n, m]
// One extent of `sizes` may be -1. A failure where strides do not allow it.
Tensor View(Tensor x, const Shape& sizes);
// As View, for a tensor that nothing else holds yet.
Tensor UnsafeView(Tensor x, const Shape& sizes);
// A view where the layout allows it, else a row-major copy seen so.
Tensor Reshape(const Tensor& x, const Shape& sizes);
Tensor Transpose(Tensor x, int axis_a, int axis_b);
Tensor Permute(Tensor x, const Shape& axes);
Tensor Unsqueeze(Tensor x, int axis);
Tensor Squeeze(Tensor x);  // every axis of extent 1 goes
Tensor SqueezeAxis(Tensor x, int axis);
// x[..., start:end:step, ...] along `axis`; `end` may pass the extent.
Tensor Slice(Tensor x, int axis, int64_t start, int64_t end, int64_t step = 1);
Tensor Select(Tensor x, int axis, int64_t index);
// -1 keeps an extent; leading axes may be added.
Tensor Expand(Tensor x, const Shape& sizes);
Tensor Detach(Tensor x);
Tensor Alias(Tensor x);
// A row-major copy.
Tensor CloneContiguous(Tensor x);
// Zeros of `sizes` with the gradient of a slice, or a select, in its place.
Tensor SliceBackward(Tensor grad, const Shape& sizes, int axis, int64_t start,
                     int64_t end, int64_t step = 1);
Tensor SelectBackward(Tensor grad, const Shape& sizes, int axis, int64_t index);
std::vector<Tensor> Split(Tensor x, int64_t size, int axis);
// Parts of these sizes, which add up to the extent.
std::vector<Tensor> SplitSizes(Tensor x, const Shape& sizes, int axis);
// One view for each index along `axis`, which goes.
std::vector<Tensor> Unbind(Tensor x, int axis);

}  // namespace foretell

#endif  // FORETELL_GRAPH_OPS_VIEWS_H_
