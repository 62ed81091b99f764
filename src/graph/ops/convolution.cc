#include "graph/ops/convolution.h"

#include <array>
#include <utility>
#include <vector>

#include "base/checked.h"
#include "graph/ops/convolution_gradient.h"
#include "graph/strides.h"

namespace foretell {
namespace {

// The places that a window of `window` elements takes along an axis; nothing
// where it does not fit.
std::optional<int64_t> Places(int64_t extent, int64_t window, int64_t stride,
                              int64_t padding, int64_t dilation) {
  if (window < 1 || stride < 1 || dilation < 1 || padding < 0) {
    return std::nullopt;
  }
  const auto both = CheckedMul(padding, 2);
  const auto padded = both ? CheckedAdd(extent, *both) : std::nullopt;
  const auto reach = CheckedMul(window - 1, dilation);
  if (!padded || !reach || *reach >= *padded) return std::nullopt;
  return (*padded - *reach - 1) / stride + 1;
}

std::string InferConvolution(const OperationArguments& args,
                             std::vector<OperationOutput>& outputs) {
  const Value& x = args.input(0);
  const Value& weight = args.input(1);
  const int axes = x.shape.rank() - 2;
  const int64_t groups = args.Integer(3);
  const auto refuse = [&] {
    return "a window of " + weight.shape.ToString() + " does not go over " +
           x.shape.ToString();
  };
  if (axes < 1 || weight.shape.rank() != axes + 2 || groups < 1 ||
      x.dtype != weight.dtype) {
    return refuse();
  }
  for (size_t list = 0; list < 3; ++list) {
    if (args.Sizes(list).rank() != axes) return refuse();
  }
  const int64_t out = weight.shape[0];
  if (x.shape[1] % groups != 0 || out % groups != 0 ||
      x.shape[1] / groups != weight.shape[1]) {
    return refuse();
  }
  if (args.input_count() == 3 && !(args.input(2).shape == Shape{out})) {
    return "a bias of " + args.input(2).shape.ToString() + " for " +
           std::to_string(out) + " channels";
  }
  Shape shape = {x.shape[0], out};
  for (int axis = 0; axis < axes; ++axis) {
    const auto places =
        Places(x.shape[axis + 2], weight.shape[axis + 2], args.Sizes(0)[axis],
               args.Sizes(1)[axis], args.Sizes(2)[axis]);
    if (!places) return refuse();
    shape.Append(*places);
  }
  outputs.push_back({shape, ContiguousStrides(shape), x.dtype, -1});
  return "";
}

// 2 x (elements of the result) x (elements of one output channel's window).
std::optional<int64_t> FlopsOfConvolution(std::span<const Value> in,
                                          std::span<const Value> out) {
  std::optional<int64_t> total = out[0].shape.Elements();
  for (int axis = 1; axis < in[1].shape.rank() && total; ++axis) {
    total = CheckedMul(*total, in[1].shape[axis]);
  }
  return total ? CheckedMul(*total, 2) : std::nullopt;
}

// Attribute 4 says which of x, weight and bias are asked for.
std::string InferBackward(const OperationArguments& args,
                          std::vector<OperationOutput>& outputs) {
  const DType dtype = args.input(0).dtype;
  const Shape& wanted = args.Sizes(4);
  const Shape& weight = args.input(2).shape;
  const Shape shapes[] = {args.input(1).shape, weight, {weight[0]}};
  for (int i = 0; i < wanted.rank(); ++i) {
    if (wanted[i] == 0) continue;
    const Shape& shape = shapes[i];
    outputs.push_back({shape, ContiguousStrides(shape), dtype, -1});
  }
  return "";
}

// The product of some extents from `from` on, times `total`.
std::optional<int64_t> Times(std::optional<int64_t> total, const Shape& shape,
                             int from) {
  for (int axis = from; axis < shape.rank() && total; ++axis) {
    total = CheckedMul(*total, shape[axis]);
  }
  return total;
}

// The counter leaves groups out of account: each channel's window meets every
// channel of x.
std::optional<int64_t> FlopsOfBackward(std::span<const Value> in,
                                       std::span<const Value> out) {
  const Shape& grad = in[0].shape;
  const Shape& x = in[1].shape;
  const Shape& weight = in[2].shape;
  std::optional<int64_t> total = 0;
  for (const Value& one : out) {
    std::optional<int64_t> part = 0;
    if (one.shape == x) {
      part = Times(Times(CheckedMul(2, grad[0]), grad, 2), weight, 0);
    } else if (one.shape == weight) {
      part = Times(Times(CheckedMul(2, x[1]), grad, 0), weight, 2);
    }
    total = total && part ? CheckedAdd(*total, *part) : std::nullopt;
  }
  return total;
}

// Both, whichever of them takes a gradient: one formula gives all three.
constexpr Save kSaves[] = {{.input = 0}, {.input = 1}};

constexpr OperationRow kConvolution = {
    .name = "aten.convolution.default",
    .doc =
        "Windows [out, channels / groups, ...] moved over [batch, channels, "
        "...]: [batch, out, ...].",
    .infer = InferConvolution,
    .flops = FlopsOfConvolution,
    .saves = kSaves,
    .gradient = GradientOfConvolution,
    .autocast = AutocastPolicy::kLower};
constexpr OperationRow kBackward = {
    .name = "aten.convolution_backward.default",
    .doc = "The gradients of x, weight and bias, those that are asked for.",
    .infer = InferBackward,
    .flops = FlopsOfBackward,
    .differentiable = Differentiable::kNo};

constexpr std::array kRows = {&kConvolution, &kBackward};

}  // namespace

std::span<const OperationRow* const> ConvolutionOperations() { return kRows; }

Tensor Convolution(Tensor x, Tensor weight, Tensor bias,
                   const ConvolutionSteps& steps) {
  std::vector<Tensor> inputs;
  inputs.push_back(std::move(x));
  inputs.push_back(std::move(weight));
  if (!bias.empty()) inputs.push_back(std::move(bias));
  const Attribute attributes[] = {steps.stride, steps.padding, steps.dilation,
                                  steps.groups};
  return inputs[0].builder().EmitMany(kConvolution, inputs, attributes)[0];
}

std::vector<Tensor> ConvolutionBackward(Tensor grad, Tensor x, Tensor weight,
                                        const ConvolutionSteps& steps,
                                        const Shape& wanted) {
  const Tensor inputs[] = {std::move(grad), std::move(x), std::move(weight)};
  const Attribute attributes[] = {steps.stride, steps.padding, steps.dilation,
                                  steps.groups, wanted};
  return inputs[0].builder().EmitMany(kBackward, inputs, attributes);
}

}  // namespace foretell
