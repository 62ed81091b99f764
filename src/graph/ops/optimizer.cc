#include "graph/ops/optimizer.h"

#include <array>
#include <utility>
#include <vector>

namespace foretell {
namespace {

std::string InferInPlace(const OperationArguments& args,
                         std::vector<OperationOutput>& outputs) {
  const Value& target = args.input(0);
  for (size_t i = 1; i < args.input_count(); ++i) {
    const Shape& other = args.input(i).shape;
    if (other == target.shape) continue;
    return other.ToString() + " stands beside " + target.shape.ToString();
  }
  outputs.push_back({target.shape, target.strides, target.dtype, 0});
  return "";
}

std::string InferNorm(const OperationArguments& args,
                      std::vector<OperationOutput>& outputs) {
  outputs.push_back({{}, {}, args.input(0).dtype, -1});
  return "";
}

constexpr OperationRow kLerp = {"aten.lerp_.Scalar", "x += weight (y - x).",
                                InferInPlace};
constexpr OperationRow kAddcmul = {"aten.addcmul_.default", "x += value y z.",
                                   InferInPlace};
constexpr OperationRow kAddcdiv = {"aten.addcdiv_.default", "x += value y / z.",
                                   InferInPlace};
constexpr OperationRow kRsqrt = {"aten.rsqrt_.default",
                                 "1 / sqrt(x) written over x.", InferInPlace};
constexpr OperationRow kNorm = {
    "aten.linalg_vector_norm.default",
    "The square root of the sum of the squares of all elements: [].",
    InferNorm};

constexpr std::array kRows = {&kLerp, &kAddcmul, &kAddcdiv, &kRsqrt, &kNorm};

}  // namespace

std::span<const OperationRow* const> OptimizerOperations() { return kRows; }

Tensor LerpInto(Tensor target, Tensor end, double weight) {
  return target.builder().Emit(kLerp, {std::move(target), std::move(end)},
                               {weight});
}
Tensor AddcmulInto(Tensor target, Tensor x, Tensor y, double value) {
  return target.builder().Emit(
      kAddcmul, {std::move(target), std::move(x), std::move(y)}, {value});
}
Tensor AddcdivInto(Tensor target, Tensor x, Tensor y, double value) {
  return target.builder().Emit(
      kAddcdiv, {std::move(target), std::move(x), std::move(y)}, {value});
}
Tensor RsqrtInto(Tensor target) {
  return target.builder().Emit(kRsqrt, {std::move(target)});
}
Tensor VectorNorm(Tensor x) { return x.builder().Emit(kNorm, {std::move(x)}); }

}  // namespace foretell
