#include "graph/ops/indexing.h"

#include <array>
#include <optional>
#include <utility>

#include "base/checked.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/indexing_gradient.h"
#include "graph/strides.h"

namespace foretell {
namespace {

using Outputs = std::vector<OperationOutput>;

std::string InferEmbedding(const OperationArguments& args, Outputs& outputs) {
  const Value& weight = args.input(0);
  const Value& indices = args.input(1);
  if (weight.shape.rank() != 2) return weight.shape.ToString() + " is no table";
  Shape shape = indices.shape;
  shape.Append(weight.shape[1]);
  outputs.push_back({shape, ContiguousStrides(shape), weight.dtype, -1});
  return "";
}

// An old form of "nothing" that joins with any shape.
bool IsNothing(const Value& part) { return part.shape == Shape{0}; }

std::string InferCat(const OperationArguments& args, Outputs& outputs) {
  size_t first = 0;
  while (first + 1 < args.input_count() && IsNothing(args.input(first))) {
    ++first;
  }
  Shape shape = args.input(first).shape;
  const int rank = shape.rank();
  const auto axis = static_cast<int>(args.Integer(0));
  if (axis < -rank || axis >= rank) return "no such axis to join along";
  const int along = axis < 0 ? axis + rank : axis;
  std::optional<int64_t> total = 0;
  DType dtype = args.input(first).dtype;
  for (size_t i = 0; i < args.input_count(); ++i) {
    const Value& part = args.input(i);
    // An empty part decides about the type as well.
    dtype = PromoteTypes(dtype, part.dtype);
    if (IsNothing(part)) continue;
    if (part.shape.rank() != rank) return "parts of different rank";
    for (int other = 0; other < rank; ++other) {
      if (other == along || part.shape[other] == shape[other]) continue;
      return shape.ToString() + " and " + part.shape.ToString() +
             " do not join";
    }
    total = CheckedAdd(*total, part.shape[along]);
    if (!total) return "the joined extent passes 2^63 - 1";
  }
  shape.Set(along, *total);
  outputs.push_back({shape, ContiguousStrides(shape), dtype, -1});
  return "";
}

std::string InferStack(const OperationArguments& args, Outputs& outputs) {
  const Value& first = args.input(0);
  const int rank = first.shape.rank() + 1;
  const auto axis = static_cast<int>(args.Integer(0));
  if (axis < -rank || axis >= rank) return "no such axis to stack along";
  for (size_t i = 1; i < args.input_count(); ++i) {
    if (args.input(i).shape == first.shape) continue;
    return first.shape.ToString() + " and " + args.input(i).shape.ToString() +
           " do not stack";
  }
  const int along = axis < 0 ? axis + rank : axis;
  Shape shape;
  for (int at = 0; at < rank; ++at) {
    shape.Append(at == along ? static_cast<int64_t>(args.input_count())
                             : first.shape[at < along ? at : at - 1]);
  }
  outputs.push_back({shape, ContiguousStrides(shape), first.dtype, -1});
  return "";
}

// Attribute 0 holds what is added before and after, the last axis first.
std::string InferPad(const OperationArguments& args, Outputs& outputs) {
  const Value& x = args.input(0);
  const Shape& pads = args.Sizes(0);
  if (pads.rank() % 2 != 0 || pads.rank() / 2 > x.shape.rank()) {
    return "padding of " + x.shape.ToString() + " by " + pads.ToString();
  }
  Shape shape = x.shape;
  bool only_cuts = true;
  for (int i = 0; i < pads.rank(); i += 2) {
    const int axis = -1 - i / 2;
    shape.Set(axis, shape[axis] + pads[i] + pads[i + 1]);
    if (shape[axis] < 0) {
      return "padding of " + x.shape.ToString() + " by " + pads.ToString();
    }
    only_cuts = only_cuts && pads[i] <= 0 && pads[i + 1] <= 0;
  }
  // What only cuts is a clone of a part; PyTorch guesses at another's layout.
  Value part = x;
  part.shape = shape;
  const Value* const inputs[] = {&part};
  outputs.push_back({shape,
                     only_cuts ? ElementwiseStrides(inputs, shape)
                               : SuggestedStrides(x, shape),
                     x.dtype, -1});
  return "";
}

// A copy in the layout of input 0.
std::string InferCopy(const OperationArguments& args, Outputs& outputs) {
  const Value& x = args.input(0);
  const Value* const inputs[] = {&x};
  outputs.push_back(
      {x.shape, ElementwiseStrides(inputs, x.shape), x.dtype, -1});
  return "";
}

std::string InferScatterAdd(const OperationArguments& args, Outputs& outputs) {
  const Value& x = args.input(0);
  outputs.push_back({x.shape, ContiguousStrides(x.shape), x.dtype, -1});
  return "";
}

std::string InferEmbeddingBackward(const OperationArguments& args,
                                   Outputs& outputs) {
  const Value& grad = args.input(0);
  if (grad.shape.rank() == 0) return "no rows in a scalar";
  const Shape shape = {args.Integer(0), grad.shape[-1]};
  outputs.push_back({shape, ContiguousStrides(shape), grad.dtype, -1});
  return "";
}

std::string InferGather(const OperationArguments& args, Outputs& outputs) {
  const Value& x = args.input(0);
  const Value& index = args.input(1);
  const int rank = x.shape.rank();
  const auto axis = static_cast<int>(args.Integer(0));
  const bool fits = index.shape.rank() == rank && axis >= -rank && axis < rank;
  if (!fits) {
    return index.shape.ToString() + " does not gather from " +
           x.shape.ToString();
  }
  outputs.push_back({index.shape, ContiguousStrides(index.shape), x.dtype, -1});
  return "";
}

std::string InferIndexSelect(const OperationArguments& args, Outputs& outputs) {
  Shape shape = args.input(0).shape;
  const Shape& index = args.input(1).shape;
  if (shape.rank() == 0 || index.rank() != 1) {
    return index.ToString() + " does not index " + shape.ToString();
  }
  shape.Set(0, index[0]);
  outputs.push_back({shape, ContiguousStrides(shape), args.input(0).dtype, -1});
  return "";
}

// One number of times per axis of x, and of new ones ahead of them.
std::string InferRepeat(const OperationArguments& args, Outputs& outputs) {
  const Value& x = args.input(0);
  const Shape& times = args.Sizes(0);
  const int ahead = times.rank() - x.shape.rank();
  if (ahead < 0) {
    return times.ToString() + " does not repeat " + x.shape.ToString();
  }
  Shape shape;
  for (int axis = 0; axis < times.rank(); ++axis) {
    const int64_t once = axis < ahead ? 1 : x.shape[axis - ahead];
    const auto extent = CheckedMul(once, times[axis]);
    if (!extent || times[axis] < 0) {
      return times.ToString() + " times " + x.shape.ToString();
    }
    shape.Append(*extent);
  }
  outputs.push_back({shape, ContiguousStrides(shape), x.dtype, -1});
  return "";
}

// The indices take the place of as many axes, from the attribute's on.
std::string InferIndex(const OperationArguments& args, Outputs& outputs) {
  const Value& x = args.input(0);
  const auto first = static_cast<int>(args.Integer(0));
  const int count = static_cast<int>(args.input_count()) - 1;
  if (first < 0 || count < 1 || first + count > x.shape.rank()) {
    return "more indices than axes of " + x.shape.ToString();
  }
  Shape joined = args.input(1).shape;
  for (size_t i = 2; i < args.input_count(); ++i) {
    const Shape& index = args.input(i).shape;
    const auto both = BroadcastShapes(joined, index);
    if (!both) {
      return joined.ToString() + " and " + index.ToString() +
             " do not broadcast";
    }
    joined = *both;
  }
  Shape shape;
  for (int axis = 0; axis < first; ++axis) shape.Append(x.shape[axis]);
  for (const int64_t extent : joined.dims()) shape.Append(extent);
  for (int axis = first + count; axis < x.shape.rank(); ++axis) {
    shape.Append(x.shape[axis]);
  }
  outputs.push_back({shape, ContiguousStrides(shape), x.dtype, -1});
  return "";
}

std::string InferScatter(const OperationArguments& args, Outputs& outputs) {
  const Value& x = args.input(0);
  const Value& index = args.input(1);
  if (index.shape.rank() != x.shape.rank() ||
      !(index.shape == args.input(2).shape)) {
    return args.input(2).shape.ToString() + " does not scatter into " +
           x.shape.ToString();
  }
  outputs.push_back({x.shape, ContiguousStrides(x.shape), x.dtype, -1});
  return "";
}

constexpr OperationRow kScatter = {
    .name = "aten.scatter.src",
    .doc = "A copy of x with elements of y written along an axis by an index.",
    .infer = InferScatter,
    .differentiable = Differentiable::kNo};
constexpr Save kSavesPlace[] = {{.input = 1}};
constexpr OperationRow kScatterFill = {
    .name = "aten.scatter.value",
    .doc = "A copy of x with a number written along an axis by an index.",
    .infer = InferScatterAdd,
    .saves = kSavesPlace,
    .gradient = GradientOfScatterFill};
constexpr Save kSavesIndices[] = {{.input = 1, .rest = true}};
// gather_backward is handed x itself, though it reads its sizes only.
constexpr Save kSavesGather[] = {{.input = 0}, {.input = 1}};

constexpr OperationRow kIndex = {.name = "aten.index.Tensor",
                                 .doc =
                                     "x at whole numbers, one tensor of them "
                                     "for each of some axes in a row.",
                                 .infer = InferIndex,
                                 .saves = kSavesIndices,
                                 .gradient = GradientOfIndex};
// Nobody differentiates a backward.
constexpr OperationRow kIndexSelect = {
    .name = "aten.index_select.default",
    .doc = "Rows of x at whole numbers [n] along the first axis.",
    .infer = InferIndexSelect,
    .differentiable = Differentiable::kNo};
constexpr OperationRow kGather = {
    .name = "aten.gather.default",
    .doc = "Elements along an axis by an index of the same rank: its extents.",
    .infer = InferGather,
    .saves = kSavesGather,
    .gradient = GradientOfGather};
constexpr OperationRow kEmbedding = {
    .name = "aten.embedding.default",
    .doc = "Rows of a table [rows, width] by indices [...]: [..., width].",
    .infer = InferEmbedding,
    .saves = kSavesIndices,
    .gradient = GradientOfEmbedding};
constexpr OperationRow kCat = {.name = "aten.cat.default",
                               .doc = "Tensors joined along an axis.",
                               .infer = InferCat,
                               .gradient = GradientOfCat};
constexpr OperationRow kStack = {
    .name = "aten.stack.default",
    .doc = "Tensors of equal extents along a new axis.",
    .infer = InferStack,
    .gradient = GradientOfStack};
constexpr OperationRow kPad = {.name = "aten.constant_pad_nd.default",
                               .doc = "Axes grown by a constant, or cut.",
                               .infer = InferPad,
                               .gradient = GradientOfPad};
constexpr OperationRow kFlip = {.name = "aten.flip.default",
                                .doc = "A copy, an axis in the reverse order.",
                                .infer = InferCopy,
                                .gradient = GradientOfFlip};
constexpr OperationRow kRepeat = {.name = "aten.repeat.default",
                                  .doc = "x several times along its axes.",
                                  .infer = InferRepeat,
                                  .gradient = GradientOfRepeat};
constexpr OperationRow kScatterAdd = {
    .name = "aten.scatter_add.default",
    .doc = "A copy of x with values added along an axis by an index.",
    .infer = InferScatterAdd,
    .differentiable = Differentiable::kNo};
constexpr OperationRow kIndexPut = {
    .name = "aten.index_put.default",
    .doc = "A copy of x with values added at whole numbers.",
    .infer = InferCopy,
    .differentiable = Differentiable::kNo};
constexpr OperationRow kEmbeddingBackward = {
    .name = "aten.embedding_dense_backward.default",
    .doc = "The gradient of a table: rows summed by their index.",
    .infer = InferEmbeddingBackward,
    .differentiable = Differentiable::kNo};

constexpr std::array kRows = {&kStack,
                              &kScatter,
                              &kEmbedding,
                              &kCat,
                              &kPad,
                              &kGather,
                              &kIndex,
                              &kFlip,
                              &kScatterAdd,
                              &kIndexPut,
                              &kEmbeddingBackward,
                              &kIndexSelect,
                              &kRepeat,
                              &kScatterFill};

}  // namespace

std::span<const OperationRow* const> IndexingOperations() { return kRows; }

Tensor EmbeddingOp(Tensor weight, Tensor indices) {
  Builder& builder = weight.builder();
  return builder.Emit(kEmbedding, {std::move(weight), std::move(indices)});
}

Tensor Gather(Tensor x, int axis, Tensor index) {
  Builder& builder = x.builder();
  return builder.Emit(kGather, {std::move(x), std::move(index)},
                      {int64_t{axis}});
}

Tensor Repeat(Tensor x, const Shape& times) {
  Builder& builder = x.builder();
  return builder.Emit(kRepeat, {std::move(x)}, {times});
}

Tensor ScatterFill(Tensor x, int axis, Tensor index, double value) {
  Builder& builder = x.builder();
  return builder.Emit(kScatterFill, {std::move(x), std::move(index)},
                      {int64_t{axis}, value});
}

Tensor Scatter(Tensor x, int axis, Tensor index, Tensor source) {
  Builder& builder = x.builder();
  return builder.Emit(kScatter,
                      {std::move(x), std::move(index), std::move(source)},
                      {int64_t{axis}});
}

Tensor IndexSelect(Tensor x, Tensor index) {
  Builder& builder = x.builder();
  return builder.Emit(kIndexSelect, {std::move(x), std::move(index)},
                      {int64_t{0}});
}

Tensor Index(Tensor x, std::span<const Tensor> indices, int first_axis) {
  std::vector<Tensor> inputs;
  inputs.push_back(std::move(x));
  inputs.insert(inputs.end(), indices.begin(), indices.end());
  const Attribute attributes[] = {int64_t{first_axis}};
  return inputs[0].builder().EmitMany(kIndex, inputs, attributes)[0];
}

Tensor Cat(std::span<const Tensor> parts, int axis) {
  const Attribute attributes[] = {int64_t{axis}};
  return parts[0].builder().EmitMany(kCat, parts, attributes)[0];
}

Tensor Stack(std::span<const Tensor> parts, int axis) {
  const Attribute attributes[] = {int64_t{axis}};
  return parts[0].builder().EmitMany(kStack, parts, attributes)[0];
}

Tensor ConstantPad(Tensor x, int64_t before, int64_t after, double value) {
  return ConstantPad(std::move(x), {before, after}, value);
}

Tensor ConstantPad(Tensor x, const Shape& pads, double value) {
  Builder& builder = x.builder();
  return builder.Emit(kPad, {std::move(x)}, {pads, value});
}

Tensor Flip(Tensor x, int axis) {
  Builder& builder = x.builder();
  return builder.Emit(kFlip, {std::move(x)}, {Shape{axis}});
}

Tensor ScatterAdd(Tensor target, int axis, Tensor index, Tensor values) {
  Builder& builder = target.builder();
  return builder.Emit(kScatterAdd,
                      {std::move(target), std::move(index), std::move(values)},
                      {int64_t{axis}});
}

Tensor IndexAdd(Tensor target, std::span<const Tensor> indices, int first_axis,
                Tensor values) {
  std::vector<Tensor> inputs;
  inputs.push_back(std::move(target));
  inputs.insert(inputs.end(), indices.begin(), indices.end());
  inputs.push_back(std::move(values));
  const Attribute attributes[] = {int64_t{first_axis}, true};
  return inputs[0].builder().EmitMany(kIndexPut, inputs, attributes)[0];
}

Tensor EmbeddingBackward(Tensor grad, Tensor indices, int64_t rows) {
  Builder& builder = grad.builder();
  return builder.Emit(kEmbeddingBackward, {std::move(grad), std::move(indices)},
                      {rows});
}

}  // namespace foretell
