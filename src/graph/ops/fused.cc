#include "graph/ops/fused.h"

#include <array>
#include <utility>
#include <vector>

#include "graph/ops/fused_gradient.h"
#include "graph/strides.h"

namespace foretell {
namespace {

using Outputs = std::vector<OperationOutput>;

std::string InferDropout(const OperationArguments& args, Outputs& outputs) {
  const Value& x = args.input(0);
  const Value* const inputs[] = {&x};
  const Shape strides = ElementwiseStrides(inputs, x.shape);
  outputs.push_back({x.shape, strides, x.dtype});
  outputs.push_back({x.shape, strides, DType::kBool});
  return "";
}

std::string InferLayerNorm(const OperationArguments& args, Outputs& outputs) {
  const Value& x = args.input(0);
  for (size_t i = 1; i < args.input_count(); ++i) {
    const Shape& factor = args.input(i).shape;
    if (x.shape.rank() > 0 && factor == Shape{x.shape[-1]}) continue;
    return x.shape.ToString() + " cannot be normalised by " +
           (i == 1 ? "a weight " : "a bias ") + factor.ToString();
  }
  if (x.shape.rank() == 0) return "a single number cannot be normalised";
  outputs.push_back({x.shape, ContiguousStrides(x.shape), x.dtype});
  Shape statistics = x.shape;
  statistics.Set(-1, 1);
  // Statistics of half-precision inputs are taken in float32.
  const DType dtype = Describe(x.dtype).bits < 32 ? DType::kFloat32 : x.dtype;
  outputs.push_back({statistics, ContiguousStrides(statistics), dtype});
  outputs.push_back({statistics, ContiguousStrides(statistics), dtype});
  return "";
}

std::string InferDropoutBackward(const OperationArguments& args,
                                 Outputs& outputs) {
  const Value& grad = args.input(0);
  outputs.push_back({grad.shape, ContiguousStrides(grad.shape), grad.dtype});
  return "";
}

// Attribute 0 says which of x, weight and bias are asked for.
std::string InferLayerNormBackward(const OperationArguments& args,
                                   Outputs& outputs) {
  const Value& x = args.input(1);
  const Shape& wanted = args.Sizes(0);
  if (wanted[0] != 0) {
    // Half precision is computed in row-major float32.
    const Value* const inputs[] = {&args.input(3), &args.input(0), &x};
    const Shape strides = Describe(x.dtype).bits < 32
                              ? ContiguousStrides(x.shape)
                              : ElementwiseStrides(inputs, x.shape);
    outputs.push_back({x.shape, strides, x.dtype});
  }
  for (int i = 1; i < wanted.rank(); ++i) {
    if (wanted[i] == 0) continue;
    const Value& factor = args.input(static_cast<size_t>(i) + 3);
    outputs.push_back(
        {factor.shape, ContiguousStrides(factor.shape), factor.dtype});
  }
  return "";
}

constexpr Save kSavesMask[] = {{.output = 1}};
// x, weight and bias, then mean and reciprocal deviation.
constexpr Save kSavesLayerNorm[] = {
    {.input = 2}, {.input = 0}, {.input = 1}, {.output = 1}, {.output = 2}};

constexpr OperationRow kDropout = {
    .name = "aten.native_dropout.default",
    .doc =
        "x with elements set to zero at random, and the mask that tells which.",
    .infer = InferDropout,
    .saves = kSavesMask,
    .gradient = GradientOfDropout,
    .differentiable_outputs = 1};
constexpr OperationRow kDropoutBackward = {
    .name = "aten.native_dropout_backward.default",
    .doc = "The gradient of dropout: grad times mask times a number.",
    .infer = InferDropoutBackward,
    .differentiable = Differentiable::kNo};
constexpr OperationRow kLayerNorm = {
    .name = "aten.native_layer_norm.default",
    .doc =
        "x [..., width] normalised over width, its mean and reciprocal "
        "deviation.",
    .infer = InferLayerNorm,
    .saves = kSavesLayerNorm,
    .gradient = GradientOfLayerNorm,
    .differentiable_outputs = 1,
    .autocast = AutocastPolicy::kFloat32};
constexpr OperationRow kLayerNormBackward = {
    .name = "aten.native_layer_norm_backward.default",
    .doc = "The gradients of x, weight and bias, those that are asked for.",
    .infer = InferLayerNormBackward,
    .differentiable = Differentiable::kNo};

constexpr std::array kRows = {&kDropout, &kLayerNorm, &kDropoutBackward,
                              &kLayerNormBackward};

}  // namespace

std::span<const OperationRow* const> FusedOperations() { return kRows; }

Tensor NativeDropout(Tensor x, double probability) {
  return x.builder().Emit(kDropout, {std::move(x)}, {probability, true});
}

Tensor NativeLayerNorm(Tensor x, Tensor weight, Tensor bias, double epsilon) {
  Builder& builder = x.builder();
  if (weight.empty())
    return builder.Emit(kLayerNorm, {std::move(x)}, {epsilon});
  if (bias.empty()) {
    return builder.Emit(kLayerNorm, {std::move(x), std::move(weight)},
                        {epsilon});
  }
  return builder.Emit(kLayerNorm,
                      {std::move(x), std::move(weight), std::move(bias)},
                      {epsilon});
}

Tensor NativeDropoutBackward(Tensor grad, Tensor mask, double scale) {
  return grad.builder().Emit(kDropoutBackward,
                             {std::move(grad), std::move(mask)}, {scale});
}

std::vector<Tensor> NativeLayerNormBackward(std::span<const Tensor> inputs,
                                            const Shape& wanted) {
  const Attribute attributes[] = {wanted};
  return inputs[0].builder().EmitMany(kLayerNormBackward, inputs, attributes);
}

}  // namespace foretell
