#include "graph/ops/activations.h"

#include <array>
#include <utility>
#include <vector>

#include "graph/ops/activations_gradient.h"
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

std::string InferBackward(const OperationArguments& args,
                          std::vector<OperationOutput>& outputs) {
  const Value& grad = args.input(0);
  const Value& kept = args.input(1);
  if (!(grad.shape == kept.shape)) {
    return "a gradient of " + grad.shape.ToString() + " for " +
           kept.shape.ToString();
  }
  const Value* const inputs[] = {&grad, &kept};
  outputs.push_back(
      {grad.shape, ElementwiseStrides(inputs, grad.shape), grad.dtype});
  return "";
}

std::string InferPreluBackward(const OperationArguments& args,
                               std::vector<OperationOutput>& outputs) {
  const std::string reason = InferBackward(args, outputs);
  if (reason.empty()) outputs.push_back(outputs.front());
  return reason;
}

constexpr Save kSavesBoth[] = {{.input = 0}, {.input = 1}};

constexpr OperationRow kGelu = {
    "aten.gelu.default", "x times the normal distribution's Phi(x).",
    InferLike,           nullptr,
    kSavesInput,         GradientOfGelu};
constexpr OperationRow kRelu = {
    "aten.relu.default", "x where positive, else zero.",
    InferLike,           nullptr,
    kSavesResult,        GradientOfRelu};
constexpr OperationRow kHardtanh = {"aten.hardtanh.default",
                                    "x between two numbers; relu6.",
                                    InferLike,
                                    nullptr,
                                    kSavesInput,
                                    GradientOfHardtanh};
constexpr OperationRow kLeakyRelu = {"aten.leaky_relu.default",
                                     "x, scaled down where negative.",
                                     InferLike,
                                     nullptr,
                                     kSavesInput,
                                     GradientOfLeakyRelu};
constexpr OperationRow kHardSwish = {"aten.hardswish.default",
                                     "x relu6(x + 3) / 6.",
                                     InferLike,
                                     nullptr,
                                     kSavesInput,
                                     GradientOfHardSwish};
constexpr OperationRow kMish = {"aten.mish.default", "x tanh(softplus(x)).",
                                InferLike,           nullptr,
                                kSavesInput,         GradientOfMish};
constexpr OperationRow kSoftplus = {"aten.softplus.default",
                                    "log(1 + exp(x)).",
                                    InferLike,
                                    nullptr,
                                    kSavesInput,
                                    GradientOfSoftplus};
constexpr OperationRow kTanh = {"aten.tanh.default", "tanh(x).",
                                InferLike,           nullptr,
                                kSavesResult,        GradientOfTanh};
constexpr OperationRow kSigmoid = {
    "aten.sigmoid.default", "1 / (1 + exp(-x)).", InferLike, nullptr,
    kSavesResult,           GradientOfSigmoid};
constexpr OperationRow kErf = {"aten.erf.default", "The error function.",
                               InferLike,          nullptr,
                               kSavesInput,        GradientOfErf};
constexpr OperationRow kSqrt = {"aten.sqrt.default", "The square root.",
                                InferLike,           nullptr,
                                kSavesResult,        GradientOfSqrt};
constexpr OperationRow kClamp = {
    "aten.clamp.default", "x between two numbers.", InferLike, nullptr,
    kSavesInput,          GradientOfClamp};
constexpr OperationRow kPrelu = {"aten._prelu_kernel.default",
                                 "x, scaled by a weight where negative.",
                                 InferLike,
                                 nullptr,
                                 kSavesBoth,
                                 GradientOfPrelu};

// Of the gradient and what was kept; nobody differentiates a backward.
constexpr OperationRow kSiluBackward = {"aten.silu_backward.default",
                                        "The gradient of silu.",
                                        InferBackward,
                                        nullptr,
                                        {},
                                        nullptr,
                                        Differentiable::kNo};
constexpr OperationRow kGeluBackward = {"aten.gelu_backward.default",
                                        "The gradient of gelu.",
                                        InferBackward,
                                        nullptr,
                                        {},
                                        nullptr,
                                        Differentiable::kNo};
constexpr OperationRow kThresholdBackward = {
    "aten.threshold_backward.default",
    "The gradient of relu, which kept its result.",
    InferBackward,
    nullptr,
    {},
    nullptr,
    Differentiable::kNo};
constexpr OperationRow kHardtanhBackward = {"aten.hardtanh_backward.default",
                                            "The gradient of hardtanh.",
                                            InferBackward,
                                            nullptr,
                                            {},
                                            nullptr,
                                            Differentiable::kNo};
constexpr OperationRow kLeakyReluBackward = {"aten.leaky_relu_backward.default",
                                             "The gradient of leaky_relu.",
                                             InferBackward,
                                             nullptr,
                                             {},
                                             nullptr,
                                             Differentiable::kNo};
constexpr OperationRow kHardSwishBackward = {"aten.hardswish_backward.default",
                                             "The gradient of hardswish.",
                                             InferBackward,
                                             nullptr,
                                             {},
                                             nullptr,
                                             Differentiable::kNo};
constexpr OperationRow kMishBackward = {"aten.mish_backward.default",
                                        "The gradient of mish.",
                                        InferBackward,
                                        nullptr,
                                        {},
                                        nullptr,
                                        Differentiable::kNo};
constexpr OperationRow kSoftplusBackward = {"aten.softplus_backward.default",
                                            "The gradient of softplus.",
                                            InferBackward,
                                            nullptr,
                                            {},
                                            nullptr,
                                            Differentiable::kNo};
constexpr OperationRow kTanhBackward = {
    "aten.tanh_backward.default",
    "The gradient of tanh, which kept its result.",
    InferBackward,
    nullptr,
    {},
    nullptr,
    Differentiable::kNo};
constexpr OperationRow kSigmoidBackward = {
    "aten.sigmoid_backward.default",
    "The gradient of sigmoid, which kept its result.",
    InferBackward,
    nullptr,
    {},
    nullptr,
    Differentiable::kNo};
constexpr OperationRow kPreluBackward = {
    "aten._prelu_kernel_backward.default",
    "The gradients of _prelu_kernel: of x, and of the weight at each element.",
    InferPreluBackward,
    nullptr,
    {},
    nullptr,
    Differentiable::kNo};

constexpr std::array kRows = {&kSiluBackward,
                              &kGeluBackward,
                              &kThresholdBackward,
                              &kHardtanhBackward,
                              &kLeakyReluBackward,
                              &kHardSwishBackward,
                              &kMishBackward,
                              &kSoftplusBackward,
                              &kTanhBackward,
                              &kSigmoidBackward,
                              &kPreluBackward,
                              &kGelu,
                              &kRelu,
                              &kHardtanh,
                              &kLeakyRelu,
                              &kHardSwish,
                              &kMish,
                              &kSoftplus,
                              &kTanh,
                              &kSigmoid,
                              &kErf,
                              &kSqrt,
                              &kClamp,
                              &kPrelu};

Tensor Unary(const OperationRow& row, Tensor x) {
  return x.builder().Emit(row, {std::move(x)});
}

Tensor Backward(const OperationRow& row, Tensor grad, Tensor kept) {
  return grad.builder().Emit(row, {std::move(grad), std::move(kept)});
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

Tensor SiluBackward(Tensor grad, Tensor x) {
  return Backward(kSiluBackward, std::move(grad), std::move(x));
}
Tensor GeluBackward(Tensor grad, Tensor x) {
  return Backward(kGeluBackward, std::move(grad), std::move(x));
}
Tensor ThresholdBackward(Tensor grad, Tensor result) {
  return Backward(kThresholdBackward, std::move(grad), std::move(result));
}
Tensor HardtanhBackward(Tensor grad, Tensor x) {
  return Backward(kHardtanhBackward, std::move(grad), std::move(x));
}
Tensor LeakyReluBackward(Tensor grad, Tensor x) {
  return Backward(kLeakyReluBackward, std::move(grad), std::move(x));
}
Tensor HardSwishBackward(Tensor grad, Tensor x) {
  return Backward(kHardSwishBackward, std::move(grad), std::move(x));
}
Tensor MishBackward(Tensor grad, Tensor x) {
  return Backward(kMishBackward, std::move(grad), std::move(x));
}
Tensor SoftplusBackward(Tensor grad, Tensor x) {
  return Backward(kSoftplusBackward, std::move(grad), std::move(x));
}
Tensor TanhBackward(Tensor grad, Tensor result) {
  return Backward(kTanhBackward, std::move(grad), std::move(result));
}
Tensor SigmoidBackward(Tensor grad, Tensor result) {
  return Backward(kSigmoidBackward, std::move(grad), std::move(result));
}
std::vector<Tensor> PreluKernelBackward(Tensor grad, Tensor x, Tensor weight) {
  const Tensor inputs[] = {std::move(grad), std::move(x), std::move(weight)};
  return inputs[0].builder().EmitMany(kPreluBackward, inputs, {});
}

}  // namespace foretell
