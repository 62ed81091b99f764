#include "graph/ops/sorting.h"

#include <array>
#include <utility>

#include "graph/ops/sorting_gradient.h"
#include "graph/strides.h"

namespace foretell {
namespace {

using Outputs = std::vector<OperationOutput>;

std::string ValuesAndPlaces(const Value& x, const Shape& shape,
                            Outputs& outputs) {
  outputs.push_back({shape, ContiguousStrides(shape), x.dtype, -1});
  outputs.push_back({shape, ContiguousStrides(shape), DType::kInt64, -1});
  return "";
}

std::string InferTopK(const OperationArguments& args, Outputs& outputs) {
  const Value& x = args.input(0);
  const int64_t count = args.Integer(0);
  if (x.shape.rank() == 0 || count < 0 || count > x.shape[-1]) {
    return "the " + std::to_string(count) + " largest of " + x.shape.ToString();
  }
  Shape shape = x.shape;
  shape.Set(-1, count);
  return ValuesAndPlaces(x, shape, outputs);
}

std::string InferSort(const OperationArguments& args, Outputs& outputs) {
  const Value& x = args.input(0);
  return ValuesAndPlaces(x, x.shape, outputs);
}

std::string InferHistogram(const OperationArguments& args, Outputs& outputs) {
  const int64_t bins = args.Integer(0);
  if (bins < 1) return "a histogram of " + std::to_string(bins) + " bins";
  outputs.push_back({{bins}, {1}, args.input(0).dtype, -1});
  return "";
}

constexpr Save kSavesPlaces[] = {{.output = 1}};
std::string InferMaxLast(const OperationArguments& args, Outputs& outputs) {
  const Value& x = args.input(0);
  if (x.shape.rank() == 0 || x.shape[-1] == 0) return "the largest of nothing";
  Shape shape;
  for (int axis = 0; axis + 1 < x.shape.rank(); ++axis) {
    shape.Append(x.shape[axis]);
  }
  if (args.Flag(1)) shape.Append(1);
  return ValuesAndPlaces(x, shape, outputs);
}

std::string InferNonzero(const OperationArguments& args, Outputs& outputs) {
  const Shape shape = {args.Integer(0), args.input(0).shape.rank()};
  outputs.push_back({shape, {1, shape[0]}, DType::kInt64, -1});
  return "";
}

constexpr OperationRow kTopK = {
    .name = "aten.topk.default",
    .doc = "The largest of the last axis, and their places (int64).",
    .infer = InferTopK,
    .saves = kSavesPlaces,
    .gradient = GradientOfChosen};
constexpr OperationRow kSort = {
    .name = "aten.sort.default",
    .doc = "The last axis in ascending order, and each element's former place.",
    .infer = InferSort,
    .saves = kSavesPlaces,
    .gradient = GradientOfChosen};
constexpr OperationRow kHistogram = {
    .name = "aten.histc.default",
    .doc = "Elements counted by equal ranges: [bins].",
    .infer = InferHistogram,
    .differentiable = Differentiable::kNo};

constexpr OperationRow kNonzero = {
    .name = "aten.nonzero.default",
    .doc = "Where x is not zero: [count, rank] int64.",
    .infer = InferNonzero,
    .differentiable = Differentiable::kNo};
constexpr OperationRow kMaxLast = {
    .name = "aten.max.dim",
    .doc =
        "The largest of the last axis, which stays as 1 or goes, and its "
        "place.",
    .infer = InferMaxLast,
    .saves = kSavesPlaces,
    .gradient = GradientOfChosen};

constexpr std::array kRows = {&kTopK, &kSort, &kHistogram, &kNonzero,
                              &kMaxLast};

std::pair<Tensor, Tensor> Both(std::vector<Tensor> outputs) {
  return {std::move(outputs[0]), std::move(outputs[1])};
}

}  // namespace

std::span<const OperationRow* const> SortingOperations() { return kRows; }

std::pair<Tensor, Tensor> TopK(Tensor x, int64_t count) {
  const Tensor held = std::move(x);
  const Attribute attributes[] = {count};
  return Both(held.builder().EmitMany(kTopK, std::span(&held, 1), attributes));
}

std::pair<Tensor, Tensor> MaxLast(Tensor x, bool keep) {
  const Tensor held = std::move(x);
  const Attribute attributes[] = {int64_t{-1}, keep};
  return Both(
      held.builder().EmitMany(kMaxLast, std::span(&held, 1), attributes));
}

std::pair<Tensor, Tensor> Sort(Tensor x) {
  const Tensor held = std::move(x);
  return Both(held.builder().EmitMany(kSort, std::span(&held, 1), {}));
}

Tensor Histogram(Tensor x, int64_t bins) {
  return x.builder().Emit(kHistogram, {std::move(x)}, {bins});
}

Tensor Nonzero(Tensor x, int64_t count) {
  return x.builder().Emit(kNonzero, {std::move(x)}, {count});
}

}  // namespace foretell
