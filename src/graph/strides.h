// How PyTorch lays tensors out: strides of new tensors, of views, and of what
// element-wise operations return.
//
// Layout decides whether `reshape` is a view or a copy, and so which storages
// exist. Strides are in elements.
// Source: torch 2.15, aten/src/ATen/TensorUtils.cpp (computeStride),
// aten/src/ATen/TensorIterator.cpp (reorder_dimensions, allocate).
#ifndef FORETELL_GRAPH_STRIDES_H_
#define FORETELL_GRAPH_STRIDES_H_

#include <optional>
#include <span>

#include "base/shape.h"
#include "graph/graph.h"

namespace foretell {

// Row-major strides of a new tensor.
Shape ContiguousStrides(const Shape& shape);

bool IsContiguous(const Value& value);
// Whether four or five axes seem to lie channels last.
bool LooksChannelsLast(const Value& value);
// Strides of a new tensor of `shape` where PyTorch follows how `like` seems to
// lie (suggest_memory_format): channels last, with four or five axes whose
// strides look so, else row-major.
Shape SuggestedStrides(const Value& like, const Shape& shape);
// Some permutation of its dims is contiguous: what clone() preserves.
bool IsDense(const Value& value);

// The strides of a view of `value` with `shape`; nothing where PyTorch's
// view() would refuse and reshape() would copy.
std::optional<Shape> ViewStrides(const Value& value, const Shape& shape);

// The shape that two shapes broadcast to; nothing where they do not.
std::optional<Shape> BroadcastShapes(const Shape& a, const Shape& b);

// The strides of an element-wise result of `shape` over these inputs.
Shape ElementwiseStrides(std::span<const Value* const> inputs,
                         const Shape& shape);

// Resolves a single -1 in `sizes` from the number of elements; nothing where
// the numbers disagree.
std::optional<Shape> ResolveSizes(const Shape& from, const Shape& sizes);

}  // namespace foretell

#endif  // FORETELL_GRAPH_STRIDES_H_
