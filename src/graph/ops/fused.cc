#include "graph/ops/fused.h"

#include <array>
#include <utility>
#include <vector>

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
  const Shape& weight = args.input(1).shape;
  const Shape& bias = args.input(2).shape;
  const bool fits = x.shape.rank() > 0 && weight.rank() == 1 &&
                    weight == bias && weight[0] == x.shape[-1];
  if (!fits) {
    return x.shape.ToString() + " cannot be normalised by a weight " +
           weight.ToString() + " and a bias " + bias.ToString();
  }
  outputs.push_back({x.shape, ContiguousStrides(x.shape), x.dtype});
  Shape statistics = x.shape;
  statistics.Set(-1, 1);
  // Statistics of half-precision inputs are taken in float32.
  const DType dtype = Describe(x.dtype).bits < 32 ? DType::kFloat32 : x.dtype;
  outputs.push_back({statistics, ContiguousStrides(statistics), dtype});
  outputs.push_back({statistics, ContiguousStrides(statistics), dtype});
  return "";
}

constexpr OperationRow kDropout = {
    "aten.native_dropout.default",
    "x with elements set to zero at random, and the mask that tells which.",
    InferDropout};
constexpr OperationRow kLayerNorm = {
    "aten.native_layer_norm.default",
    "x [..., width] normalised over width, its mean and reciprocal deviation.",
    InferLayerNorm};

constexpr std::array kRows = {&kDropout, &kLayerNorm};

}  // namespace

std::span<const OperationRow* const> FusedOperations() { return kRows; }

Tensor NativeDropout(Tensor x, double probability) {
  return x.builder().Emit(kDropout, {std::move(x)}, {probability, true});
}

Tensor NativeLayerNorm(Tensor x, Tensor weight, Tensor bias, double epsilon) {
  return x.builder().Emit(kLayerNorm,
                          {std::move(x), std::move(weight), std::move(bias)},
                          {epsilon});
}

}  // namespace foretell
