#include "graph/ops/activations.h"

#include <array>
#include <utility>
#include <vector>

#include "graph/strides.h"

namespace foretell {
namespace {

std::string InferLike(const OperationArguments& args,
                      std::vector<OperationOutput>& outputs) {
  const Value& x = args.input(0);
  const Value* const inputs[] = {&x};
  outputs.push_back({x.shape, ElementwiseStrides(inputs, x.shape), x.dtype});
  return "";
}

constexpr OperationRow kGelu = {"aten.gelu.default",
                                "x times the normal distribution's Phi(x).",
                                InferLike};
constexpr OperationRow kRelu = {"aten.relu.default",
                                "x where positive, else zero.", InferLike,
                                nullptr, kSavesResult};
constexpr OperationRow kHardtanh = {"aten.hardtanh.default",
                                    "x between two numbers; relu6.", InferLike};
constexpr OperationRow kLeakyRelu = {
    "aten.leaky_relu.default", "x, scaled down where negative.", InferLike};
constexpr OperationRow kHardSwish = {"aten.hardswish.default",
                                     "x relu6(x + 3) / 6.", InferLike};
constexpr OperationRow kMish = {"aten.mish.default", "x tanh(softplus(x)).",
                                InferLike};
constexpr OperationRow kSoftplus = {"aten.softplus.default", "log(1 + exp(x)).",
                                    InferLike};
constexpr OperationRow kTanh = {"aten.tanh.default", "tanh(x).", InferLike,
                                nullptr, kSavesResult};
constexpr OperationRow kSigmoid = {"aten.sigmoid.default", "1 / (1 + exp(-x)).",
                                   InferLike, nullptr, kSavesResult};
constexpr OperationRow kErf = {"aten.erf.default", "The error function.",
                               InferLike};
constexpr OperationRow kSqrt = {"aten.sqrt.default", "The square root.",
                                InferLike, nullptr, kSavesResult};
constexpr OperationRow kClamp = {"aten.clamp.default", "x between two numbers.",
                                 InferLike};
constexpr OperationRow kPrelu = {"aten._prelu_kernel.default",
                                 "x, scaled by a weight where negative.",
                                 InferLike};

constexpr std::array kRows = {
    &kGelu, &kRelu,    &kHardtanh, &kLeakyRelu, &kHardSwish, &kMish, &kSoftplus,
    &kTanh, &kSigmoid, &kErf,      &kSqrt,      &kClamp,     &kPrelu};

Tensor Unary(const OperationRow& row, Tensor x) {
  return x.builder().Emit(row, {std::move(x)});
}

}  // namespace

std::span<const OperationRow* const> ActivationOperations() { return kRows; }

// The flag says which form: the tanh approximation.
Tensor Gelu(Tensor x) {
  return x.builder().Emit(kGelu, {std::move(x)}, {false});
}
Tensor GeluTanh(Tensor x) {
  return x.builder().Emit(kGelu, {std::move(x)}, {true});
}
Tensor Relu(Tensor x) { return Unary(kRelu, std::move(x)); }
Tensor Relu6(Tensor x) {
  return x.builder().Emit(kHardtanh, {std::move(x)}, {0.0, 6.0});
}
Tensor LeakyRelu(Tensor x) { return Unary(kLeakyRelu, std::move(x)); }
Tensor HardSwish(Tensor x) { return Unary(kHardSwish, std::move(x)); }
Tensor Mish(Tensor x) { return Unary(kMish, std::move(x)); }
Tensor Softplus(Tensor x) { return Unary(kSoftplus, std::move(x)); }
Tensor Tanh(Tensor x) { return Unary(kTanh, std::move(x)); }
Tensor Sigmoid(Tensor x) { return Unary(kSigmoid, std::move(x)); }
Tensor Erf(Tensor x) { return Unary(kErf, std::move(x)); }
Tensor Sqrt(Tensor x) { return Unary(kSqrt, std::move(x)); }
Tensor Clamp(Tensor x, double least, double most) {
  return x.builder().Emit(kClamp, {std::move(x)}, {least, most});
}
Tensor PreluKernel(Tensor x, Tensor weight) {
  return x.builder().Emit(kPrelu, {std::move(x), std::move(weight)});
}

}  // namespace foretell
