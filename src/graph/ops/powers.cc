#include "graph/ops/powers.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "graph/gradient.h"
#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/strides.h"

namespace foretell {
namespace {

using Outputs = std::vector<OperationOutput>;

std::string InferCreation(const OperationArguments& args, Outputs& outputs) {
  const Shape& shape = args.Sizes(0);
  outputs.push_back({shape, ContiguousStrides(shape), args.Type(1), -1});
  return "";
}

// A number [] and a tensor, or two tensors, of which one alone is a fraction
// or both are of one dtype.
std::string InferPair(const OperationArguments& args, Outputs& outputs) {
  const Value& x = args.input(0);
  const Value& y = args.input(1);
  const auto joined = BroadcastShapes(x.shape, y.shape);
  if (!joined) {
    return x.shape.ToString() + " and " + y.shape.ToString() +
           " do not broadcast";
  }
  const bool x_is_whole = !Describe(x.dtype).is_floating;
  const bool y_counts =
      x_is_whole || (x.shape.rank() == 0 && y.shape.rank() > 0 &&
                     Describe(y.dtype).is_floating);
  outputs.push_back({*joined, ElementwiseStrides(args.inputs(), *joined),
                     y_counts ? y.dtype : x.dtype, -1});
  return "";
}

std::string InferSame(const OperationArguments& args, Outputs& outputs) {
  const Value& x = args.input(0);
  outputs.push_back(
      {x.shape, ElementwiseStrides(args.inputs(), x.shape), x.dtype, -1});
  return "";
}

// Where both are equal each takes half; the smaller takes nothing.
Tensor ShareOf(const Gradient& g, const Tensor& loses) {
  const Tensor half = DivNumber(g.grad(), 2);
  const Tensor equal = Eq(g.input(0), g.input(1));
  const Tensor shared = Where(equal, half, g.grad());
  return MaskedFill(shared, loses, 0);
}

void GradientOfMaximum(Gradient& g) {
  if (g.Needs(1)) {
    const Tensor loses = Gt(g.input(0), g.input(1));
    g.Give(1, ShareOf(g, loses));
  }
  if (g.Needs(0)) {
    const Tensor loses = Lt(g.input(0), g.input(1));
    g.Give(0, ShareOf(g, loses));
  }
}

constexpr Save kSavesBoth[] = {{.input = 1}, {.input = 0}};

constexpr OperationRow kArangeStart = {
    .name = "aten.arange.start_step",
    .doc = "Whole numbers from start to end, every so many.",
    .infer = InferCreation,
    .differentiable = Differentiable::kNo};
constexpr OperationRow kFull = {.name = "aten.full.default",
                                .doc = "A number at every element.",
                                .infer = InferCreation,
                                .differentiable = Differentiable::kNo};
// Here of slopes that nothing trains.
constexpr OperationRow kPow = {.name = "aten.pow.Tensor_Tensor",
                               .doc = "x to the power of y.",
                               .infer = InferPair,
                               .autocast = AutocastPolicy::kFloat32};
constexpr OperationRow kPowOfNumber = {.name = "aten.pow.Scalar",
                                       .doc = "A number to the power of y.",
                                       .infer = InferSame,
                                       .autocast = AutocastPolicy::kFloat32};
constexpr OperationRow kReciprocal = {.name = "aten.reciprocal.default",
                                      .doc = "1 / x.",
                                      .infer = InferSame,
                                      .autocast = AutocastPolicy::kFloat32};
constexpr OperationRow kLog1p = {.name = "aten.log1p.default",
                                 .doc = "log(1 + x).",
                                 .infer = InferSame,
                                 .differentiable = Differentiable::kNo,
                                 .autocast = AutocastPolicy::kFloat32};
constexpr OperationRow kMaximum = {.name = "aten.maximum.default",
                                   .doc = "The larger of x and y.",
                                   .infer = InferPair,
                                   .saves = kSavesBoth,
                                   .gradient = GradientOfMaximum};

constexpr std::array kRows = {&kArangeStart, &kFull,    &kPow,  &kPowOfNumber,
                              &kReciprocal,  &kMaximum, &kLog1p};

}  // namespace

std::span<const OperationRow* const> PowerOperations() { return kRows; }

Tensor WholesFrom(Builder& builder, int64_t start, int64_t end, DType dtype) {
  const OperationRow* const row = FindOperation("aten.arange.start");
  return builder.Emit(*row, {},
                      {Shape{std::max<int64_t>(0, end - start)}, dtype, start});
}

Tensor WholesBy(Builder& builder, int64_t start, int64_t end, int64_t step,
                DType dtype) {
  const int64_t count = end > start ? (end - start + step - 1) / step : 0;
  return builder.Emit(kArangeStart, {}, {Shape{count}, dtype, start, step});
}

Tensor Full(Builder& builder, const Shape& shape, double value, DType dtype) {
  return builder.Emit(kFull, {}, {shape, dtype, value});
}

Tensor Pow(Tensor x, Tensor y) {
  return x.builder().Emit(kPow, {std::move(x), std::move(y)});
}

Tensor PowOfNumber(double x, Tensor y) {
  return y.builder().Emit(kPowOfNumber, {std::move(y)}, {x});
}

Tensor Reciprocal(Tensor x) {
  return x.builder().Emit(kReciprocal, {std::move(x)});
}

Tensor Log1p(Tensor x) { return x.builder().Emit(kLog1p, {std::move(x)}); }

Tensor Maximum(Tensor x, Tensor y) {
  return x.builder().Emit(kMaximum, {std::move(x), std::move(y)});
}

}  // namespace foretell
