#include "graph/ops/activations.h"

#include <array>
#include <limits>
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

// What was kept decides the layout: on devices without data, as recorded, a
// choice by it comes first.
std::string InferSoftplusBackward(const OperationArguments& args,
                                  std::vector<OperationOutput>& outputs) {
  const std::string reason = InferBackward(args, outputs);
  if (!reason.empty()) return reason;
  const Value* const inputs[] = {&args.input(1), &args.input(0)};
  outputs.back().strides = ElementwiseStrides(inputs, args.input(0).shape);
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
    .name = "aten.gelu.default",
    .doc = "x times the normal distribution's Phi(x).",
    .infer = InferLike,
    .saves = kSavesInput,
    .gradient = GradientOfGelu};
constexpr OperationRow kRelu = {.name = "aten.relu.default",
                                .doc = "x where positive, else zero.",
                                .infer = InferLike,
                                .saves = kSavesResult,
                                .gradient = GradientOfRelu};
constexpr OperationRow kHardtanh = {.name = "aten.hardtanh.default",
                                    .doc = "x between two numbers; relu6.",
                                    .infer = InferLike,
                                    .saves = kSavesInput,
                                    .gradient = GradientOfHardtanh};
constexpr OperationRow kLeakyRelu = {.name = "aten.leaky_relu.default",
                                     .doc = "x, scaled down where negative.",
                                     .infer = InferLike,
                                     .saves = kSavesInput,
                                     .gradient = GradientOfLeakyRelu};
constexpr OperationRow kHardSwish = {.name = "aten.hardswish.default",
                                     .doc = "x relu6(x + 3) / 6.",
                                     .infer = InferLike,
                                     .saves = kSavesInput,
                                     .gradient = GradientOfHardSwish};
constexpr OperationRow kMish = {.name = "aten.mish.default",
                                .doc = "x tanh(softplus(x)).",
                                .infer = InferLike,
                                .saves = kSavesInput,
                                .gradient = GradientOfMish};
constexpr OperationRow kSoftplus = {.name = "aten.softplus.default",
                                    .doc = "log(1 + exp(x)).",
                                    .infer = InferLike,
                                    .saves = kSavesInput,
                                    .gradient = GradientOfSoftplus,
                                    .autocast = AutocastPolicy::kFloat32};
constexpr OperationRow kTanh = {.name = "aten.tanh.default",
                                .doc = "tanh(x).",
                                .infer = InferLike,
                                .saves = kSavesResult,
                                .gradient = GradientOfTanh};
constexpr OperationRow kSigmoid = {.name = "aten.sigmoid.default",
                                   .doc = "1 / (1 + exp(-x)).",
                                   .infer = InferLike,
                                   .saves = kSavesResult,
                                   .gradient = GradientOfSigmoid};
constexpr OperationRow kErf = {.name = "aten.erf.default",
                               .doc = "The error function.",
                               .infer = InferLike,
                               .saves = kSavesInput,
                               .gradient = GradientOfErf};
constexpr OperationRow kSqrt = {.name = "aten.sqrt.default",
                                .doc = "The square root.",
                                .infer = InferLike,
                                .saves = kSavesResult,
                                .gradient = GradientOfSqrt};
constexpr OperationRow kClamp = {.name = "aten.clamp.default",
                                 .doc = "x between two numbers.",
                                 .infer = InferLike,
                                 .saves = kSavesInput,
                                 .gradient = GradientOfClamp};
constexpr OperationRow kPrelu = {.name = "aten._prelu_kernel.default",
                                 .doc = "x, scaled by a weight where negative.",
                                 .infer = InferLike,
                                 .saves = kSavesBoth,
                                 .gradient = GradientOfPrelu};

// Of the gradient and what was kept; nobody differentiates a backward.
constexpr OperationRow kSiluBackward = {.name = "aten.silu_backward.default",
                                        .doc = "The gradient of silu.",
                                        .infer = InferBackward,
                                        .differentiable = Differentiable::kNo};
constexpr OperationRow kGeluBackward = {.name = "aten.gelu_backward.default",
                                        .doc = "The gradient of gelu.",
                                        .infer = InferBackward,
                                        .differentiable = Differentiable::kNo};
constexpr OperationRow kThresholdBackward = {
    .name = "aten.threshold_backward.default",
    .doc = "The gradient of relu, which kept its result.",
    .infer = InferBackward,
    .differentiable = Differentiable::kNo};
constexpr OperationRow kHardtanhBackward = {
    .name = "aten.hardtanh_backward.default",
    .doc = "The gradient of hardtanh.",
    .infer = InferBackward,
    .differentiable = Differentiable::kNo};
constexpr OperationRow kLeakyReluBackward = {
    .name = "aten.leaky_relu_backward.default",
    .doc = "The gradient of leaky_relu.",
    .infer = InferBackward,
    .differentiable = Differentiable::kNo};
constexpr OperationRow kHardSwishBackward = {
    .name = "aten.hardswish_backward.default",
    .doc = "The gradient of hardswish.",
    .infer = InferBackward,
    .differentiable = Differentiable::kNo};
constexpr OperationRow kMishBackward = {.name = "aten.mish_backward.default",
                                        .doc = "The gradient of mish.",
                                        .infer = InferBackward,
                                        .differentiable = Differentiable::kNo};
constexpr OperationRow kSoftplusBackward = {
    .name = "aten.softplus_backward.default",
    .doc = "The gradient of softplus.",
    .infer = InferSoftplusBackward,
    .differentiable = Differentiable::kNo};
constexpr OperationRow kTanhBackward = {
    .name = "aten.tanh_backward.default",
    .doc = "The gradient of tanh, which kept its result.",
    .infer = InferBackward,
    .differentiable = Differentiable::kNo};
constexpr OperationRow kSigmoidBackward = {
    .name = "aten.sigmoid_backward.default",
    .doc = "The gradient of sigmoid, which kept its result.",
    .infer = InferBackward,
    .differentiable = Differentiable::kNo};
constexpr OperationRow kPreluBackward = {
    .name = "aten._prelu_kernel_backward.default",
    .doc =
        "The gradients of _prelu_kernel: of x, and of the weight at each "
        "element.",
    .infer = InferPreluBackward,
    .differentiable = Differentiable::kNo};

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
Tensor ClampLeast(Tensor x, double least) {
  return Clamp(std::move(x), least, std::numeric_limits<double>::infinity());
}
Tensor ClampMost(Tensor x, double most) {
  return Clamp(std::move(x), -std::numeric_limits<double>::infinity(), most);
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
