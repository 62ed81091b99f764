#include "graph/ops/views.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/checked.h"
#include "graph/ops/views_gradient.h"
#include "graph/strides.h"

namespace foretell {
namespace {

using Outputs = std::vector<OperationOutput>;

// Bounds the work that a size read from a configuration causes.
constexpr size_t kMostParts = 4096;

// A view of input 0.
std::string SameStorage(const Value& value, const Shape& shape,
                        const Shape& strides, Outputs& outputs) {
  outputs.push_back({shape, strides, value.dtype, 0});
  return "";
}

int Axis(int64_t axis, int rank) {
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

bool InRange(int axis, int rank) { return axis >= 0 && axis < rank; }

std::string NoAxis(int64_t axis, const Value& value) {
  return value.shape.ToString() + " has no axis " + std::to_string(axis);
}

std::string InferT(const OperationArguments& args, Outputs& outputs) {
  const Value& x = args.input(0);
  if (x.shape.rank() != 2) return x.shape.ToString() + " is no matrix";
  return SameStorage(x, {x.shape[1], x.shape[0]}, {x.strides[1], x.strides[0]},
                     outputs);
}

std::string InferView(const OperationArguments& args, Outputs& outputs) {
  const Value& x = args.input(0);
  const auto sizes = ResolveSizes(x.shape, args.Sizes(0));
  const auto strides = sizes ? ViewStrides(x, *sizes) : std::nullopt;
  if (!strides) {
    return x.shape.ToString() + " cannot be viewed as " +
           args.Sizes(0).ToString();
  }
  return SameStorage(x, *sizes, *strides, outputs);
}

std::string InferTranspose(const OperationArguments& args, Outputs& outputs) {
  const Value& x = args.input(0);
  const int a = Axis(args.Integer(0), x.shape.rank());
  const int b = Axis(args.Integer(1), x.shape.rank());
  if (!InRange(a, x.shape.rank())) return NoAxis(args.Integer(0), x);
  if (!InRange(b, x.shape.rank())) return NoAxis(args.Integer(1), x);
  Shape shape = x.shape;
  Shape strides = x.strides;
  shape.Set(a, x.shape[b]);
  shape.Set(b, x.shape[a]);
  strides.Set(a, x.strides[b]);
  strides.Set(b, x.strides[a]);
  return SameStorage(x, shape, strides, outputs);
}

std::string InferPermute(const OperationArguments& args, Outputs& outputs) {
  const Value& x = args.input(0);
  const Shape& axes = args.Sizes(0);
  if (axes.rank() != x.shape.rank()) {
    return x.shape.ToString() + " cannot be permuted by " + axes.ToString();
  }
  Shape shape;
  Shape strides;
  for (const int64_t axis : axes.dims()) {
    if (!InRange(Axis(axis, x.shape.rank()), x.shape.rank())) {
      return NoAxis(axis, x);
    }
    shape.Append(x.shape[static_cast<int>(axis)]);
    strides.Append(x.strides[static_cast<int>(axis)]);
  }
  return SameStorage(x, shape, strides, outputs);
}

std::string InferUnsqueeze(const OperationArguments& args, Outputs& outputs) {
  const Value& x = args.input(0);
  const int rank = x.shape.rank();
  const int at = Axis(args.Integer(0), rank + 1);
  if (!InRange(at, rank + 1)) return NoAxis(args.Integer(0), x);
  Shape shape;
  Shape strides;
  for (int axis = 0; axis <= rank; ++axis) {
    if (axis == at) {
      shape.Append(1);
      // As ATen: the new axis steps over all that lies inside it.
      strides.Append(at < rank ? x.shape[at] * x.strides[at] : 1);
    }
    if (axis == rank) break;
    shape.Append(x.shape[axis]);
    strides.Append(x.strides[axis]);
  }
  return SameStorage(x, shape, strides, outputs);
}

std::string InferSlice(const OperationArguments& args, Outputs& outputs) {
  const Value& x = args.input(0);
  const int axis = Axis(args.Integer(0), x.shape.rank());
  if (!InRange(axis, x.shape.rank())) return NoAxis(args.Integer(0), x);
  const int64_t extent = x.shape[axis];
  const auto clamp = [extent](int64_t at) {
    if (at < 0) at += extent;
    return std::clamp<int64_t>(at, 0, extent);
  };
  const int64_t start = clamp(args.Integer(1));
  const int64_t end = std::max(start, clamp(args.Integer(2)));
  const int64_t step = args.Integer(3);
  if (step < 1) return "a slice of step " + std::to_string(step);
  Shape shape = x.shape;
  Shape strides = x.strides;
  // Rounded up; never past what the extent allows.
  shape.Set(axis, (end - start) / step + ((end - start) % step == 0 ? 0 : 1));
  if (step > 1) {
    const auto stride = CheckedMul(strides[axis], step);
    if (!stride) return "a slice's stride passes 2^63 - 1";
    strides.Set(axis, *stride);
  }
  return SameStorage(x, shape, strides, outputs);
}

std::string InferSelect(const OperationArguments& args, Outputs& outputs) {
  const Value& x = args.input(0);
  const int at = Axis(args.Integer(0), x.shape.rank());
  if (!InRange(at, x.shape.rank())) return NoAxis(args.Integer(0), x);
  const int64_t index = args.Integer(1);
  if (index >= x.shape[at] || index < -x.shape[at]) {
    return "index " + std::to_string(index) + " is outside " +
           x.shape.ToString();
  }
  Shape shape;
  Shape strides;
  for (int axis = 0; axis < x.shape.rank(); ++axis) {
    if (axis == at) continue;
    shape.Append(x.shape[axis]);
    strides.Append(x.strides[axis]);
  }
  return SameStorage(x, shape, strides, outputs);
}

std::string InferExpand(const OperationArguments& args, Outputs& outputs) {
  const Value& x = args.input(0);
  const Shape& sizes = args.Sizes(0);
  const int added = sizes.rank() - x.shape.rank();
  const std::string refusal =
      x.shape.ToString() + " cannot be expanded to " + sizes.ToString();
  if (added < 0) return refusal;
  Shape shape;
  Shape strides;
  for (int axis = 0; axis < sizes.rank(); ++axis) {
    const int own = axis - added;
    const int64_t extent = own >= 0 ? x.shape[own] : 1;
    const int64_t wanted = sizes[axis] == -1 ? extent : sizes[axis];
    if (wanted != extent && extent != 1) return refusal;
    shape.Append(wanted);
    if (own >= 0 && wanted == extent) {
      strides.Append(x.strides[own]);
    } else if (own < 0 && wanted == 1) {
      // ATen gives a new axis of one the stride that spans what follows.
      strides.Append(x.shape.rank() > 0 ? x.shape[0] * x.strides[0] : 1);
    } else {
      strides.Append(0);
    }
  }
  return SameStorage(x, shape, strides, outputs);
}

// Axes of extent 1 go: one that is named, or all.
std::string InferSqueeze(const OperationArguments& args, Outputs& outputs) {
  const Value& x = args.input(0);
  const int rank = x.shape.rank();
  const bool named = args.Flag(0);
  const int at = named ? Axis(args.Integer(1), rank) : 0;
  if (named && !InRange(at, rank)) return NoAxis(args.Integer(1), x);
  Shape shape;
  Shape strides;
  for (int axis = 0; axis < rank; ++axis) {
    if (x.shape[axis] == 1 && (!named || axis == at)) continue;
    shape.Append(x.shape[axis]);
    strides.Append(x.strides[axis]);
  }
  return SameStorage(x, shape, strides, outputs);
}

std::string InferSame(const OperationArguments& args, Outputs& outputs) {
  const Value& x = args.input(0);
  return SameStorage(x, x.shape, x.strides, outputs);
}

std::string InferClone(const OperationArguments& args, Outputs& outputs) {
  const Value& x = args.input(0);
  outputs.push_back({x.shape, ContiguousStrides(x.shape), x.dtype, -1});
  return "";
}

// The extents that the gradient's view was taken of.
std::string InferBackward(const OperationArguments& args, Outputs& outputs) {
  const Shape& shape = args.Sizes(0);
  outputs.push_back({shape, ContiguousStrides(shape), args.input(0).dtype});
  return "";
}

std::string InferSplit(const OperationArguments& args, Outputs& outputs) {
  const Value& x = args.input(0);
  const int64_t size = args.Integer(0);
  const int axis = Axis(args.Integer(1), x.shape.rank());
  if (!InRange(axis, x.shape.rank())) return NoAxis(args.Integer(1), x);
  if (size < 1) return "parts of " + std::to_string(size);
  for (int64_t start = 0; start < x.shape[axis]; start += size) {
    Shape shape = x.shape;
    shape.Set(axis, std::min(size, x.shape[axis] - start));
    outputs.push_back({shape, x.strides, x.dtype, 0});
    if (outputs.size() > kMostParts) return "too many parts";
  }
  return "";
}

std::string InferSplitSizes(const OperationArguments& args, Outputs& outputs) {
  const Value& x = args.input(0);
  const Shape& sizes = args.Sizes(0);
  const int axis = Axis(args.Integer(1), x.shape.rank());
  if (!InRange(axis, x.shape.rank())) return NoAxis(args.Integer(1), x);
  int64_t left = x.shape[axis];
  for (const int64_t size : sizes.dims()) {
    if (size < 0 || size > left) break;
    left -= size;
    Shape shape = x.shape;
    shape.Set(axis, size);
    outputs.push_back({shape, x.strides, x.dtype, 0});
  }
  if (left == 0 && outputs.size() == sizes.dims().size()) return "";
  return x.shape.ToString() + " does not divide into " + sizes.ToString();
}

std::string InferUnbind(const OperationArguments& args, Outputs& outputs) {
  const Value& x = args.input(0);
  const int at = Axis(args.Integer(0), x.shape.rank());
  if (!InRange(at, x.shape.rank())) return NoAxis(args.Integer(0), x);
  if (x.shape[at] > static_cast<int64_t>(kMostParts)) return "too many parts";
  OperationOutput part = {{}, {}, x.dtype, 0};
  for (int axis = 0; axis < x.shape.rank(); ++axis) {
    if (axis == at) continue;
    part.shape.Append(x.shape[axis]);
    part.strides.Append(x.strides[axis]);
  }
  outputs.assign(static_cast<size_t>(x.shape[at]), part);
  return "";
}

constexpr OperationRow kT = {.name = "aten.t.default",
                             .doc = "The matrix [m, n] seen as [n, m].",
                             .infer = InferT,
                             .gradient = GradientOfT};
constexpr OperationRow kView = {
    .name = "aten.view.default",
    .doc = "The same elements under other extents, no copy.",
    .infer = InferView,
    .gradient = GradientOfView};
constexpr OperationRow kUnsafeView = {
    .name = "aten._unsafe_view.default",
    .doc = "As view, of a tensor that no other name holds.",
    .infer = InferView,
    .gradient = GradientOfView};
constexpr OperationRow kTranspose = {.name = "aten.transpose.int",
                                     .doc = "Two axes exchanged.",
                                     .infer = InferTranspose,
                                     .gradient = GradientOfTranspose};
constexpr OperationRow kPermute = {.name = "aten.permute.default",
                                   .doc = "All axes in another order.",
                                   .infer = InferPermute,
                                   .gradient = GradientOfPermute};
constexpr OperationRow kUnsqueeze = {.name = "aten.unsqueeze.default",
                                     .doc = "A new axis of extent 1.",
                                     .infer = InferUnsqueeze,
                                     .gradient = GradientOfUnsqueeze};
constexpr OperationRow kSqueeze = {.name = "aten.squeeze.default",
                                   .doc = "All axes of extent 1 go.",
                                   .infer = InferSqueeze,
                                   .gradient = GradientOfSqueeze};
constexpr OperationRow kSqueezeDim = {
    .name = "aten.squeeze.dim",
    .doc = "One axis goes if its extent is 1.",
    .infer = InferSqueeze,
    .gradient = GradientOfSqueeze};
constexpr OperationRow kSlice = {
    .name = "aten.slice.Tensor",
    .doc = "A range of one axis, or every so many of it.",
    .infer = InferSlice,
    .gradient = GradientOfSlice};
constexpr OperationRow kSelect = {.name = "aten.select.int",
                                  .doc = "One index of one axis, which goes.",
                                  .infer = InferSelect,
                                  .gradient = GradientOfSelect};
constexpr OperationRow kExpand = {
    .name = "aten.expand.default",
    .doc = "Axes of extent 1 repeated without a copy.",
    .infer = InferExpand,
    .gradient = GradientOfSame};
constexpr OperationRow kDetach = {.name = "aten.detach.default",
                                  .doc = "The same tensor outside autograd.",
                                  .infer = InferSame,
                                  .differentiable = Differentiable::kNo};
constexpr OperationRow kAlias = {.name = "aten.alias.default",
                                 .doc = "The same tensor under a new handle.",
                                 .infer = InferSame,
                                 .gradient = GradientOfSame};
constexpr OperationRow kSplit = {
    .name = "aten.split.Tensor",
    .doc = "Parts of one size along an axis, as views.",
    .infer = InferSplit,
    .gradient = GradientOfSplit};
constexpr OperationRow kSplitSizes = {
    .name = "aten.split_with_sizes.default",
    .doc = "Parts of given sizes along an axis, as views.",
    .infer = InferSplitSizes,
    .gradient = GradientOfSplit};
constexpr OperationRow kClone = {.name = "aten.clone.default",
                                 .doc = "A row-major copy.",
                                 .infer = InferClone,
                                 .gradient = GradientOfSame};

constexpr OperationRow kUnbind = {
    .name = "aten.unbind.int",
    .doc = "A view of each index of an axis, which goes.",
    .infer = InferUnbind,
    .gradient = GradientOfUnbind};

// Nobody differentiates a backward.
constexpr OperationRow kSliceBackward = {
    .name = "aten.slice_backward.default",
    .doc = "A gradient amid zeros: that of a slice.",
    .infer = InferBackward,
    .differentiable = Differentiable::kNo};
constexpr OperationRow kSelectBackward = {
    .name = "aten.select_backward.default",
    .doc = "A gradient amid zeros: that of a select.",
    .infer = InferBackward,
    .differentiable = Differentiable::kNo};

constexpr std::array kRows = {
    &kT,          &kView,          &kUnsafeView,     &kTranspose, &kPermute,
    &kUnsqueeze,  &kSlice,         &kSelect,         &kExpand,    &kDetach,
    &kAlias,      &kSplit,         &kSplitSizes,     &kClone,     &kSqueeze,
    &kSqueezeDim, &kSliceBackward, &kSelectBackward, &kUnbind};

}  // namespace

std::span<const OperationRow* const> ViewOperations() { return kRows; }

Tensor T(Tensor x) { return x.builder().Emit(kT, {std::move(x)}); }

Tensor View(Tensor x, const Shape& sizes) {
  return x.builder().Emit(kView, {std::move(x)}, {sizes});
}

Tensor UnsafeView(Tensor x, const Shape& sizes) {
  return x.builder().Emit(kUnsafeView, {std::move(x)}, {sizes});
}

Tensor Reshape(const Tensor& x, const Shape& sizes) {
  const Value& value = x.builder().ValueOf(x.id());
  const auto resolved = ResolveSizes(value.shape, sizes);
  if (!resolved || ViewStrides(value, *resolved)) return View(x, sizes);
  return UnsafeView(CloneContiguous(x), *resolved);
}

Tensor Transpose(Tensor x, int axis_a, int axis_b) {
  return x.builder().Emit(kTranspose, {std::move(x)},
                          {int64_t{axis_a}, int64_t{axis_b}});
}

Tensor Permute(Tensor x, const Shape& axes) {
  return x.builder().Emit(kPermute, {std::move(x)}, {axes});
}

Tensor Unsqueeze(Tensor x, int axis) {
  return x.builder().Emit(kUnsqueeze, {std::move(x)}, {int64_t{axis}});
}

Tensor Squeeze(Tensor x) {
  return x.builder().Emit(kSqueeze, {std::move(x)}, {false});
}

Tensor SqueezeAxis(Tensor x, int axis) {
  return x.builder().Emit(kSqueezeDim, {std::move(x)}, {true, int64_t{axis}});
}

Tensor Slice(Tensor x, int axis, int64_t start, int64_t end, int64_t step) {
  return x.builder().Emit(kSlice, {std::move(x)},
                          {int64_t{axis}, start, end, step});
}

Tensor Select(Tensor x, int axis, int64_t index) {
  return x.builder().Emit(kSelect, {std::move(x)}, {int64_t{axis}, index});
}

Tensor Expand(Tensor x, const Shape& sizes) {
  return x.builder().Emit(kExpand, {std::move(x)}, {sizes});
}

Tensor Detach(Tensor x) { return x.builder().Emit(kDetach, {std::move(x)}); }

Tensor Alias(Tensor x) { return x.builder().Emit(kAlias, {std::move(x)}); }

Tensor CloneContiguous(Tensor x) {
  return x.builder().Emit(kClone, {std::move(x)});
}

Tensor SliceBackward(Tensor grad, const Shape& sizes, int axis, int64_t start,
                     int64_t end, int64_t step) {
  return grad.builder().Emit(kSliceBackward, {std::move(grad)},
                             {sizes, int64_t{axis}, start, end, step});
}

Tensor SelectBackward(Tensor grad, const Shape& sizes, int axis,
                      int64_t index) {
  return grad.builder().Emit(kSelectBackward, {std::move(grad)},
                             {sizes, int64_t{axis}, index});
}

std::vector<Tensor> Split(Tensor x, int64_t size, int axis) {
  const Tensor held = std::move(x);
  const Attribute attributes[] = {size, int64_t{axis}};
  return held.builder().EmitMany(kSplit, std::span(&held, 1), attributes);
}

std::vector<Tensor> SplitSizes(Tensor x, const Shape& sizes, int axis) {
  const Tensor held = std::move(x);
  const Attribute attributes[] = {sizes, int64_t{axis}};
  return held.builder().EmitMany(kSplitSizes, std::span(&held, 1), attributes);
}

std::vector<Tensor> Unbind(Tensor x, int axis) {
  const Tensor held = std::move(x);
  const Attribute attributes[] = {int64_t{axis}};
  return held.builder().EmitMany(kUnbind, std::span(&held, 1), attributes);
}

}  // namespace foretell
