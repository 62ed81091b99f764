// Operations that gather, join and pad by position.
//
// Source of the rules: torch 2.15, aten/src/ATen/native/Embedding.cpp,
// TensorShape.cpp, PadNd.cpp.
#ifndef FORETELL_GRAPH_OPS_INDEXING_H_
#define FORETELL_GRAPH_OPS_INDEXING_H_

#include <span>
#include <vector>

#include "graph/builder.h"
#include "graph/operation_row.h"

namespace foretell {

std::span<const OperationRow* const> IndexingOperations();

// weight [rows, width], indices [...] -> [..., width]
Tensor EmbeddingOp(Tensor weight, Tensor indices);
// x along `axis` at `index`, which gives the extents.
Tensor Gather(Tensor x, int axis, Tensor index);
// A copy of x with the elements of `source` where `index` says along `axis`.
Tensor Scatter(Tensor x, int axis, Tensor index, Tensor source);
// A copy of x with `value` where `index` says along `axis`.
Tensor ScatterFill(Tensor x, int axis, Tensor index, double value);
// Rows of x at whole numbers along the first axis, for a backward.
Tensor IndexSelect(Tensor x, Tensor index);
// x[a, b, …] with whole numbers for its axes from `first_axis` on.
Tensor Index(Tensor x, std::span<const Tensor> indices, int first_axis = 0);
Tensor Cat(std::span<const Tensor> parts, int axis);
// Along a new axis.
Tensor Stack(std::span<const Tensor> parts, int axis);
// Pads the last axis by `before` and `after` elements.
Tensor ConstantPad(Tensor x, int64_t before, int64_t after, double value);
// `pads` holds such pairs, the last axis first; negative ones cut.
Tensor ConstantPad(Tensor x, const Shape& pads, double value);
// As many times along each axis.
Tensor Repeat(Tensor x, const Shape& times);
Tensor Flip(Tensor x, int axis);  // a copy in the reverse order
// A copy of `target` with `values` added along `axis` at `index`.
Tensor ScatterAdd(Tensor target, int axis, Tensor index, Tensor values);
// A copy of `target` with `values` added where Index() would read.
Tensor IndexAdd(Tensor target, std::span<const Tensor> indices, int first_axis,
                Tensor values);
// grad [..., width] summed by `indices` [...] -> [rows, width]
Tensor EmbeddingBackward(Tensor grad, Tensor indices, int64_t rows);

}  // namespace foretell

#endif  // FORETELL_GRAPH_OPS_INDEXING_H_
