#include "graph/ops/reduction.h"

#include <array>
#include <utility>

#include "graph/autocast.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/reduction_gradient.h"
#include "graph/strides.h"

namespace foretell {
namespace {

using Outputs = std::vector<OperationOutput>;

std::string NoAxes(const Value& x) {
  return x.shape.ToString() + " has no such axis";
}

bool HasAxis(const Value& x, int64_t axis) {
  const int rank = x.shape.rank();
  return axis >= -rank && axis < rank;
}

// Over the axes that attribute 0 names; they go, or stay as 1.
std::string InferMean(const OperationArguments& args, Outputs& outputs) {
  const Value& x = args.input(0);
  const int rank = x.shape.rank();
  std::array<bool, Shape::kMaxDims> goes = {};
  for (const int64_t named : args.Sizes(0).dims()) {
    if (!HasAxis(x, named)) return NoAxes(x);
    goes[static_cast<size_t>(named < 0 ? named + rank : named)] = true;
  }
  Shape shape;
  for (int axis = 0; axis < rank; ++axis) {
    if (!goes[static_cast<size_t>(axis)]) {
      shape.Append(x.shape[axis]);
    } else if (args.Flag(1)) {
      shape.Append(1);
    }
  }
  outputs.push_back({shape, ContiguousStrides(shape), args.Type(2), -1});
  return "";
}

std::string InferArgmax(const OperationArguments& args, Outputs& outputs) {
  if (!HasAxis(args.input(0), args.Integer(0))) return NoAxes(args.input(0));
  Shape shape = args.input(0).shape;
  Shape kept;
  const int rank = shape.rank();
  const int64_t named = args.Integer(0);
  for (int axis = 0; axis < rank; ++axis) {
    if (axis != (named < 0 ? named + rank : named)) kept.Append(shape[axis]);
  }
  outputs.push_back({kept, ContiguousStrides(kept), DType::kInt64, -1});
  return "";
}

std::string InferSoftmax(const OperationArguments& args, Outputs& outputs) {
  const Value& x = args.input(0);
  if (!HasAxis(x, args.Integer(0))) return NoAxes(x);
  outputs.push_back({x.shape, ContiguousStrides(x.shape), x.dtype, -1});
  return "";
}

std::string InferCumsum(const OperationArguments& args, Outputs& outputs) {
  const Value& x = args.input(0);
  if (!HasAxis(x, args.Integer(0))) return NoAxes(x);
  outputs.push_back({x.shape, ContiguousStrides(x.shape), args.Type(1), -1});
  return "";
}

std::string InferAll(const OperationArguments&, Outputs& outputs) {
  outputs.push_back({{}, {}, DType::kBool, -1});
  return "";
}

std::string InferSumAll(const OperationArguments& args, Outputs& outputs) {
  outputs.push_back({{}, {}, args.Type(0), -1});
  return "";
}

std::string InferMax(const OperationArguments& args, Outputs& outputs) {
  outputs.push_back({{}, {}, args.input(0).dtype, -1});
  return "";
}

// With its flag, float16 goes in and float32 comes out.
std::string InferWideSoftmax(const OperationArguments& args, Outputs& outputs) {
  const std::string reason = InferSoftmax(args, outputs);
  if (reason.empty() && args.Flag(1)) outputs[0].dtype = DType::kFloat32;
  return reason;
}

// Its backward divides the gradient among all elements that are the largest.
constexpr Save kSavesMax[] = {{.input = 0}, {.output = 0}};

// Row-major, whatever the layout of the gradient.
std::string InferSoftmaxBackward(const OperationArguments& args,
                                 Outputs& outputs) {
  const Shape& shape = args.input(0).shape;
  outputs.push_back({shape, ContiguousStrides(shape), args.Type(1), -1});
  return "";
}

std::string InferLogSoftmaxBackward(const OperationArguments& args,
                                    Outputs& outputs) {
  const Value* const inputs[] = {&args.input(0), &args.input(1)};
  const Shape& shape = args.input(0).shape;
  outputs.push_back(
      {shape, ElementwiseStrides(inputs, shape), args.Type(1), -1});
  return "";
}

constexpr OperationRow kMean = {
    .name = "aten.mean.dim",
    .doc = "The mean over an axis, which goes or stays as 1.",
    .infer = InferMean,
    .gradient = GradientOfMean};
constexpr OperationRow kSumAll = {.name = "aten.sum.default",
                                  .doc = "The sum of all elements: [].",
                                  .infer = InferSumAll,
                                  .gradient = GradientOfSumAll};
constexpr OperationRow kMax = {.name = "aten.max.default",
                               .doc = "The largest of all elements: [].",
                               .infer = InferMax,
                               .saves = kSavesMax};
constexpr OperationRow kSum = {
    .name = "aten.sum.dim_IntList",
    .doc = "The sum over an axis, which goes or stays as 1.",
    .infer = InferMean,
    .gradient = GradientOfSum};
constexpr OperationRow kSoftmax = {.name = "aten._softmax.default",
                                   .doc = "Softmax along an axis.",
                                   .infer = InferWideSoftmax,
                                   .saves = kSavesResult,
                                   .gradient = GradientOfSoftmax};
constexpr OperationRow kSafeSoftmax = {
    .name = "aten._safe_softmax.default",
    .doc = "Softmax along an axis; rows of minus infinity give zeros.",
    .infer = InferSoftmax,
    .saves = kSavesResult,
    .gradient = GradientOfSoftmax};
constexpr OperationRow kLogSoftmax = {
    .name = "aten._log_softmax.default",
    .doc = "The logarithm of softmax along an axis.",
    .infer = InferSoftmax,
    .saves = kSavesResult,
    .gradient = GradientOfLogSoftmax};
constexpr OperationRow kSoftmaxBackward = {
    .name = "aten._softmax_backward_data.default",
    .doc = "The gradient of softmax from that of its result, and the result.",
    .infer = InferSoftmaxBackward,
    .differentiable = Differentiable::kNo};
constexpr OperationRow kLogSoftmaxBackward = {
    .name = "aten._log_softmax_backward_data.default",
    .doc = "The gradient of the logarithm of softmax, from its result.",
    .infer = InferLogSoftmaxBackward,
    .differentiable = Differentiable::kNo};
constexpr OperationRow kCumsum = {.name = "aten.cumsum.default",
                                  .doc = "Running sums along an axis.",
                                  .infer = InferCumsum,
                                  .gradient = GradientOfCumsum};
constexpr OperationRow kArgmax = {
    .name = "aten.argmax.default",
    .doc = "The index of the largest along an axis, which goes.",
    .infer = InferArgmax,
    .differentiable = Differentiable::kNo};
constexpr OperationRow kAny = {.name = "aten.any.default",
                               .doc = "Whether some element is true: [].",
                               .infer = InferAll,
                               .differentiable = Differentiable::kNo};
constexpr OperationRow kAll = {.name = "aten.all.default",
                               .doc = "Whether every element is true: [].",
                               .infer = InferAll,
                               .differentiable = Differentiable::kNo};

constexpr std::array kRows = {&kMean,
                              &kSoftmax,
                              &kLogSoftmax,
                              &kCumsum,
                              &kAll,
                              &kArgmax,
                              &kAny,
                              &kSum,
                              &kSafeSoftmax,
                              &kSumAll,
                              &kMax,
                              &kSoftmaxBackward,
                              &kLogSoftmaxBackward};

// Where no dtype is asked for: whole numbers and bool give int64.
DType SumType(const Tensor& x) {
  if (!Describe(x.dtype()).is_floating) return DType::kInt64;
  return AutocastResult(x).value_or(x.dtype());
}

}  // namespace

std::span<const OperationRow* const> ReductionOperations() { return kRows; }

Tensor MeanLast(Tensor x) {
  const DType dtype = x.dtype();
  return x.builder().Emit(kMean, {std::move(x)}, {Shape{-1}, true, dtype});
}

Tensor MeanOver(Tensor x, int axis) {
  const DType dtype = x.dtype();
  return x.builder().Emit(kMean, {std::move(x)}, {Shape{axis}, false, dtype});
}

Tensor Argmax(Tensor x, int axis) {
  return x.builder().Emit(kArgmax, {std::move(x)}, {int64_t{axis}});
}

Tensor Any(Tensor x) { return x.builder().Emit(kAny, {std::move(x)}); }

Tensor SoftmaxOp(Tensor x, int axis) {
  return AutocastResult(x) ? SoftmaxInFloat(std::move(x), axis)
                           : SoftmaxAsIs(std::move(x), axis);
}

Tensor SoftmaxAsIs(Tensor x, int axis) {
  return x.builder().Emit(kSoftmax, {std::move(x)}, {int64_t{axis}, false});
}

Tensor SoftmaxInFloat(Tensor x, int axis) {
  const bool is_read = x.dtype() == DType::kFloat16;
  if (!is_read) x = To(std::move(x), DType::kFloat32);
  return x.builder().Emit(kSoftmax, {std::move(x)}, {int64_t{axis}, is_read});
}

Tensor SafeSoftmax(Tensor x, int axis) {
  return x.builder().Emit(kSafeSoftmax, {std::move(x)}, {int64_t{axis}});
}

Tensor LogSoftmaxOp(Tensor x, int axis) {
  return x.builder().Emit(kLogSoftmax, {std::move(x)}, {int64_t{axis}});
}

Tensor SoftmaxBackward(Tensor grad, Tensor output, int axis, DType dtype) {
  return grad.builder().Emit(kSoftmaxBackward,
                             {std::move(grad), std::move(output)},
                             {int64_t{axis}, dtype});
}

Tensor LogSoftmaxBackward(Tensor grad, Tensor output, int axis, DType dtype) {
  return grad.builder().Emit(kLogSoftmaxBackward,
                             {std::move(grad), std::move(output)},
                             {int64_t{axis}, dtype});
}

Tensor Cumsum(Tensor x, int axis, std::optional<DType> dtype) {
  const DType own = SumType(x);
  return x.builder().Emit(kCumsum, {std::move(x)},
                          {int64_t{axis}, dtype.value_or(own)});
}

Tensor SumAll(Tensor x) {
  const DType dtype = SumType(x);
  return x.builder().Emit(kSumAll, {std::move(x)}, {dtype});
}

Tensor Max(Tensor x) { return x.builder().Emit(kMax, {std::move(x)}); }

Tensor SumOver(Tensor x, int axis, bool keep) {
  return SumAxes(std::move(x), {axis}, keep);
}

Tensor SumAxes(Tensor x, const Shape& axes, bool keep) {
  const DType dtype = SumType(x);
  return x.builder().Emit(kSum, {std::move(x)}, {axes, keep, dtype});
}

Tensor All(Tensor x) { return x.builder().Emit(kAll, {std::move(x)}); }

}  // namespace foretell
