#include "models/layers/short_convolution.h"

#include <limits>

#include "graph/ops/convolution.h"
#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/in_place.h"
#include "graph/ops/indexing.h"
#include "graph/ops/views.h"
#include "models/layers/functional.h"

namespace foretell {

DepthwiseConv1d::DepthwiseConv1d(const Module& at, int64_t channels,
                                 int64_t kernel, bool has_bias)
    : weight(at.Parameter("weight", {channels, 1, kernel})) {
  if (has_bias) bias = at.Parameter("bias", {channels});
}

Tensor CausalConvolution(const Module& at, const DepthwiseConv1d& conv1d,
                         const ConvActivation& act, const Tensor& x_bds) {
  Builder& builder = at.builder();
  const Tensor weight = SqueezeAxis(builder.Read(conv1d.weight), 1);
  const Tensor bias = conv1d.bias ? builder.Read(*conv1d.bias) : Tensor();
  const auto convolve = [&] {
    const Tensor hidden = To(x_bds, weight.dtype());
    return Convolution(hidden, Unsqueeze(weight, 1), bias,
                       {.stride = {1},
                        .padding = {weight.size(1) - 1},
                        .dilation = {1},
                        .groups = weight.size(0)});
  };
  const auto cut = [&] { return SliceRange(convolve(), 2, 0, x_bds.size(2)); };
  Tensor out = cut();
  if (act) out = act(out);
  return To(out, x_bds.dtype());
}

Tensor FillConvCache(const Tensor& x_bds, int64_t kernel,
                     RecurrentCache& cache) {
  cache.conv_bdk = Zeros(x_bds.builder(),
                         {x_bds.size(0), x_bds.size(1), kernel}, x_bds.dtype());
  const int64_t missing = kernel - x_bds.size(2);
  const Tensor full = missing > 0 ? ConstantPad(x_bds, missing, 0, 0) : x_bds;
  cache.conv_bdk = CopyInto(cache.conv_bdk, LatestTokens(full, kernel));
  return full;
}

void FillRecurrentCache(const Tensor& state, RecurrentCache& cache) {
  cache.recurrent = ZerosLike(state);
  cache.recurrent = CopyInto(cache.recurrent, state);
}

Tensor UpdateConvolution(const Module& at, const DepthwiseConv1d& conv1d,
                         const ConvActivation& act, const Tensor& x_bds,
                         const RecurrentCache& cache) {
  Builder& builder = at.builder();
  const Tensor weight = SqueezeAxis(builder.Read(conv1d.weight), 1);
  const Tensor bias = conv1d.bias ? builder.Read(*conv1d.bias) : Tensor();
  const Tensor joined = To(Cat2(cache.conv_bdk, x_bds, -1), weight.dtype());
  CopyInto(cache.conv_bdk, LatestTokens(joined, cache.conv_bdk.size(2)));
  Tensor out = Convolution(joined, Unsqueeze(weight, 1), bias,
                           {.stride = {1},
                            .padding = {0},
                            .dilation = {1},
                            .groups = x_bds.size(1)});
  out = LatestTokens(out, x_bds.size(2));
  if (act) out = act(out);
  return To(out, x_bds.dtype());
}

Tensor LatestTokens(const Tensor& x_bds, int64_t count) {
  return Slice(x_bds, 2, -count, std::numeric_limits<int64_t>::max());
}

}  // namespace foretell
