// The short causal convolution of recurrent layers, and what such a layer keeps
// while text is generated.
//
// Source: transformers 5.23, models/mamba/modeling_mamba.py (causal_conv1d_fn),
// which FalconMamba, Mamba 2, Jamba and the hybrids share; cache_utils.py
// (LinearAttentionLayer).
#ifndef FORETELL_MODELS_LAYERS_SHORT_CONVOLUTION_H_
#define FORETELL_MODELS_LAYERS_SHORT_CONVOLUTION_H_

#include <cstdint>
#include <functional>
#include <optional>

#include "models/layers/activation.h"
#include "models/layers/module.h"

namespace foretell {

// torch.nn.Conv1d with as many groups as channels: weight [channels, 1,
// kernel], bias [channels].
struct DepthwiseConv1d {
  DepthwiseConv1d(const Module& at, int64_t channels, int64_t kernel,
                  bool has_bias);

  ParameterId weight;
  std::optional<ParameterId> bias;
};

// What a layer keeps while text is generated, as a prefill leaves it.
struct RecurrentCache {
  Tensor conv_bdk;   // the last inputs of the convolution
  Tensor recurrent;  // float32
  bool IsFilled() const { return !conv_bdk.empty(); }
};

// What follows the convolution: an ActivationModule, a function, or nothing.
using ConvActivation = std::function<Tensor(const Tensor&)>;

// Each token sees itself and the kernel - 1 tokens before it: x [b, d, s].
Tensor CausalConvolution(const Module& at, const DepthwiseConv1d& conv1d,
                         const ConvActivation& act, const Tensor& x_bds);

// Keeps the last `kernel` tokens of x [b, d, s] of a first call, and gives what
// the convolution sees: a shorter sequence is filled up in front.
Tensor FillConvCache(const Tensor& x_bds, int64_t kernel,
                     RecurrentCache& cache);
void FillRecurrentCache(const Tensor& state, RecurrentCache& cache);

// One more token x [b, d, 1] behind those that the cache keeps, which it joins:
// causal_conv1d_update.
Tensor UpdateConvolution(const Module& at, const DepthwiseConv1d& conv1d,
                         const ConvActivation& act, const Tensor& x_bds,
                         const RecurrentCache& cache);

// x[:, :, -count:], a slice also where it takes all.
Tensor LatestTokens(const Tensor& x_bds, int64_t count);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_SHORT_CONVOLUTION_H_
