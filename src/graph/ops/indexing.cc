#include "graph/ops/indexing.h"

#include <array>
#include <utility>

#include "base/checked.h"
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
  for (size_t i = 0; i < args.input_count(); ++i) {
    const Value& part = args.input(i);
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
  outputs.push_back({shape, ContiguousStrides(shape), args.input(0).dtype, -1});
  return "";
}

std::string InferPad(const OperationArguments& args, Outputs& outputs) {
  const Value& x = args.input(0);
  if (x.shape.rank() == 0) return "padding of a scalar";
  Shape shape = x.shape;
  shape.Set(-1, shape[-1] + args.Sizes(0)[0] + args.Sizes(0)[1]);
  outputs.push_back({shape, ContiguousStrides(shape), x.dtype, -1});
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
    "aten.scatter.src",
    "A copy of x with elements of y written along an axis by an index.",
    InferScatter,
    nullptr,
    {},
    nullptr,
    Differentiable::kNo};
constexpr OperationRow kIndex = {
    "aten.index.Tensor",
    "x at whole numbers, one tensor of them for each of some axes in a row.",
    InferIndex};
constexpr OperationRow kGather = {
    "aten.gather.default",
    "Elements along an axis by an index of the same rank: its extents.",
    InferGather};
constexpr OperationRow kEmbedding = {
    "aten.embedding.default",
    "Rows of a table [rows, width] by indices [...]: [..., width].",
    InferEmbedding};
constexpr OperationRow kCat = {"aten.cat.default",
                               "Tensors joined along an axis.", InferCat};
constexpr OperationRow kPad = {"aten.constant_pad_nd.default",
                               "The last axis grown by a constant.", InferPad};

constexpr std::array kRows = {&kScatter, &kEmbedding, &kCat,
                              &kPad,     &kGather,    &kIndex};

}  // namespace

std::span<const OperationRow* const> IndexingOperations() { return kRows; }

Tensor EmbeddingOp(Tensor weight, Tensor indices) {
  return weight.builder().Emit(kEmbedding,
                               {std::move(weight), std::move(indices)});
}

Tensor Gather(Tensor x, int axis, Tensor index) {
  return x.builder().Emit(kGather, {std::move(x), std::move(index)},
                          {int64_t{axis}});
}

Tensor Scatter(Tensor x, int axis, Tensor index, Tensor source) {
  return x.builder().Emit(kScatter,
                          {std::move(x), std::move(index), std::move(source)},
                          {int64_t{axis}});
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

Tensor ConstantPad(Tensor x, int64_t before, int64_t after, double value) {
  return x.builder().Emit(kPad, {std::move(x)}, {Shape{before, after}, value});
}

}  // namespace foretell
