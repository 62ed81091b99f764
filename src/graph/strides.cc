#include "graph/strides.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace foretell {
namespace {

// A product that stops growing past 2^62: strides of impossible tensors are
// never used, since their storage's size is already unknown.
int64_t Saturating(int64_t a, int64_t b) {
  int64_t out = 0;
  constexpr int64_t kTop = int64_t{1} << 62;
  if (__builtin_mul_overflow(a, b, &out)) return kTop;
  return std::min(out, kTop);
}

}  // namespace

// is_channels_last_strides_2d and its kin for three axes: from the channels
// through the last axis to the first, strides grow.
bool LooksChannelsLast(const Value& value) {
  const int rank = value.shape.rank();
  if (rank != 4 && rank != 5) return false;
  const Shape& strides = value.strides;
  if (strides[1] == 0) return false;
  int64_t least = 0;
  for (int at = 0; at < rank; ++at) {
    // 1, rank - 1, …, 2, 0
    const int axis = at == 0 ? 1 : (at == rank - 1 ? 0 : rank - at);
    const int64_t extent = value.shape[axis];
    if (extent == 0 || strides[axis] < least) return false;
    if (axis == 0 && least == strides[1]) return false;
    least = strides[axis];
    least = Saturating(least, std::max<int64_t>(1, extent));
  }
  return true;
}

Shape ContiguousStrides(const Shape& shape) {
  Shape strides = shape;
  int64_t stride = 1;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    strides.Set(axis, stride);
    stride = Saturating(stride, std::max<int64_t>(1, shape[axis]));
  }
  return strides;
}

Shape SuggestedStrides(const Value& like, const Shape& shape) {
  Shape strides = ContiguousStrides(shape);
  if (!LooksChannelsLast(like) || shape.rank() != like.shape.rank()) {
    return strides;
  }
  const int rank = shape.rank();
  int64_t next = 1;
  for (int at = 0; at < rank; ++at) {
    const int axis = at == 0 ? 1 : (at == rank - 1 ? 0 : rank - at);
    strides.Set(axis, next);
    next = Saturating(next, std::max<int64_t>(1, shape[axis]));
  }
  return strides;
}

bool IsContiguous(const Value& value) {
  if (value.shape.Elements() == 0) return true;
  int64_t expected = 1;
  for (int axis = value.shape.rank() - 1; axis >= 0; --axis) {
    if (value.shape[axis] == 1) continue;
    if (value.strides[axis] != expected) return false;
    expected = Saturating(expected, value.shape[axis]);
  }
  return true;
}

bool IsDense(const Value& value) {
  std::vector<int> order(static_cast<size_t>(value.shape.rank()));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, [&value](int a, int b) {
    if (value.shape[b] < 2) return value.shape[a] >= 2;
    if (value.shape[a] < 2) return false;
    return value.strides[a] < value.strides[b];
  });
  int64_t expected = 1;
  for (const int axis : order) {
    if (value.shape[axis] < 2) return true;
    if (value.strides[axis] != expected) return false;
    expected = Saturating(expected, value.shape[axis]);
  }
  return true;
}

std::optional<Shape> ViewStrides(const Value& value, const Shape& shape) {
  const Shape& old = value.shape;
  if (old.Elements() != shape.Elements()) return std::nullopt;
  if (old.Elements() == 0 || old.rank() == 0) return ContiguousStrides(shape);
  Shape strides = shape;
  int view = shape.rank() - 1;
  int64_t chunk_base = value.strides[-1];
  int64_t old_elements = 1;
  int64_t view_elements = 1;
  for (int axis = old.rank() - 1; axis >= 0; --axis) {
    old_elements = Saturating(old_elements, old[axis]);
    const bool chunk_ends =
        axis == 0 ||
        (old[axis - 1] != 1 &&
         value.strides[axis - 1] != Saturating(old_elements, chunk_base));
    if (!chunk_ends) continue;
    while (view >= 0 && (view_elements < old_elements || shape[view] == 1)) {
      strides.Set(view, Saturating(view_elements, chunk_base));
      view_elements = Saturating(view_elements, shape[view]);
      --view;
    }
    if (view_elements != old_elements) return std::nullopt;
    if (axis > 0) {
      chunk_base = value.strides[axis - 1];
      old_elements = 1;
      view_elements = 1;
    }
  }
  if (view != -1) return std::nullopt;
  return strides;
}

std::optional<Shape> BroadcastShapes(const Shape& a, const Shape& b) {
  const int rank = std::max(a.rank(), b.rank());
  Shape out;
  for (int axis = 0; axis < rank; ++axis) {
    const int in_a = axis - (rank - a.rank());
    const int in_b = axis - (rank - b.rank());
    const int64_t extent_a = in_a >= 0 ? a[in_a] : 1;
    const int64_t extent_b = in_b >= 0 ? b[in_b] : 1;
    if (extent_a != extent_b && extent_a != 1 && extent_b != 1) {
      return std::nullopt;
    }
    out.Append(extent_a == 1 ? extent_b : extent_a);
  }
  return out;
}

Shape ElementwiseStrides(std::span<const Value* const> inputs,
                         const Shape& shape) {
  const int rank = shape.rank();
  // TensorIterator's fast set-up: all of one shape and one dense layout.
  const bool alike = std::ranges::all_of(inputs, [&](const Value* value) {
    return value->shape == shape && value->strides == inputs[0]->strides;
  });
  if (alike && !inputs.empty()) {
    if (IsContiguous(*inputs[0])) return ContiguousStrides(shape);
    if (IsDense(*inputs[0])) return inputs[0]->strides;
  }
  const auto stride_at = [&](const Value& value, int axis) -> int64_t {
    const int own = axis - (rank - value.shape.rank());
    if (own < 0 || (value.shape[own] == 1 && shape[axis] != 1)) return 0;
    return value.strides[own];
  };
  // 1: `a` lies outside `b`; -1: inside; 0: the inputs do not tell.
  const auto compare = [&](int a, int b) -> int {
    for (const Value* value : inputs) {
      const int64_t stride_a = stride_at(*value, a);
      const int64_t stride_b = stride_at(*value, b);
      if (stride_a == 0 || stride_b == 0) continue;
      if (stride_a < stride_b) return -1;
      if (stride_a > stride_b) return 1;
      if (shape[a] > shape[b]) return 1;
    }
    return 0;
  };
  // Innermost first, by insertion as TensorIterator does it: the comparison is
  // no strict order, so the algorithm is part of the rule.
  std::vector<int> order(static_cast<size_t>(rank));
  for (int i = 0; i < rank; ++i) order[static_cast<size_t>(i)] = rank - 1 - i;
  for (int i = 1; i < rank; ++i) {
    int moving = i;
    for (int other = i - 1; other >= 0; --other) {
      const int verdict = compare(order[static_cast<size_t>(other)],
                                  order[static_cast<size_t>(moving)]);
      if (verdict > 0) {
        std::swap(order[static_cast<size_t>(other)],
                  order[static_cast<size_t>(moving)]);
        moving = other;
      } else if (verdict < 0) {
        break;
      }
    }
  }
  Shape strides = shape;
  int64_t stride = 1;
  for (const int axis : order) {
    strides.Set(axis, stride);
    stride = Saturating(stride, std::max<int64_t>(1, shape[axis]));
  }
  return strides;
}

std::optional<Shape> ResolveSizes(const Shape& from, const Shape& sizes) {
  const auto elements = from.Elements();
  Shape known = sizes;
  int open = -1;
  for (int axis = 0; axis < sizes.rank(); ++axis) {
    if (sizes[axis] != -1) continue;
    if (open >= 0) return std::nullopt;
    open = axis;
    known.Set(axis, 1);
  }
  const auto rest = known.Elements();
  if (!elements || !rest) return std::nullopt;
  if (open < 0) {
    if (*rest != *elements) return std::nullopt;
    return known;
  }
  if (*rest == 0 || *elements % *rest != 0) return std::nullopt;
  known.Set(open, *elements / *rest);
  return known;
}

}  // namespace foretell
