#include "graph/ops/deviation.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "graph/gradient.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/in_place.h"
#include "graph/ops/reduction.h"
#include "graph/strides.h"

namespace foretell {
namespace {

using Outputs = std::vector<OperationOutput>;

std::string InferLastAsOne(const OperationArguments& args, Outputs& outputs) {
  const Value& x = args.input(0);
  if (x.shape.rank() == 0) return "[] has no axis";
  Shape shape;
  for (int axis = 0; axis + 1 < x.shape.rank(); ++axis) {
    shape.Append(x.shape[axis]);
  }
  shape.Append(1);
  outputs.push_back({shape, ContiguousStrides(shape), x.dtype, -1});
  return "";
}

std::string InferSame(const OperationArguments& args, Outputs& outputs) {
  const Value& x = args.input(0);
  outputs.push_back(
      {x.shape, ElementwiseStrides(args.inputs(), x.shape), x.dtype, -1});
  return "";
}

std::string InferFlag(const OperationArguments& /*args*/, Outputs& outputs) {
  outputs.push_back({{}, {}, DType::kBool, -1});
  return "";
}

void GradientOfStd(Gradient& g) {
  const auto by_variance = [&] {
    const Tensor deviation = g.output(0);
    const auto divided = [&] {
      const Tensor twice = MulNumber(deviation, 2);
      return Div(g.grad(), twice);
    };
    Tensor out = divided();
    const Tensor none = EqScalar(deviation, 0);
    return FillWhere(std::move(out), none, 0);
  };
  const Tensor grad = by_variance();
  const Tensor x = g.input(0);
  const auto centered = [&] { return Sub(x, MeanLast(x)); };
  const Tensor from_mean = centered();
  const auto count = static_cast<double>(x.size(-1));
  g.Give(0, Mul(MulNumber(grad, 2 / count), from_mean));
}

constexpr Save kSavesBoth[] = {{.input = 0}, {.output = 0}};

constexpr OperationRow kStd = {
    .name = "aten.std.correction",
    .doc = "The standard deviation over the last axis, which stays as 1.",
    .infer = InferLastAsOne,
    .saves = kSavesBoth,
    .gradient = GradientOfStd};
// Here of a number that nothing trains.
constexpr OperationRow kErfinv = {.name = "aten.erfinv.default",
                                  .doc = "The inverse of the error function.",
                                  .infer = InferSame,
                                  .differentiable = Differentiable::kNo,
                                  .autocast = AutocastPolicy::kFloat32};
constexpr OperationRow kIsAllTrue = {
    .name = "aten._is_all_true.default",
    .doc = "Whether all elements are true: [].",
    .infer = InferFlag,
    .differentiable = Differentiable::kNo};

constexpr std::array kRows = {&kStd, &kErfinv, &kIsAllTrue};

}  // namespace

std::span<const OperationRow* const> DeviationOperations() { return kRows; }

Tensor StdLast(Tensor x) {
  Builder& builder = x.builder();
  return builder.Emit(kStd, {std::move(x)});
}

Tensor Erfinv(Tensor x) {
  Builder& builder = x.builder();
  return builder.Emit(kErfinv, {std::move(x)});
}

Tensor IsAllTrue(Tensor x) {
  Builder& builder = x.builder();
  return builder.Emit(kIsAllTrue, {std::move(x)});
}

}  // namespace foretell
