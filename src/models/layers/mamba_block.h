// One layer of Mamba: a norm, and the mixer whose convolution and selective
// scan take the place of attention.
//
// Source: transformers 5.23, models/mamba/modeling_mamba.py (MambaBlock,
// MambaMixer, causal_conv1d_fn), as it runs without the packages mamba-ssm and
// causal-conv1d.
#ifndef FORETELL_MODELS_LAYERS_MAMBA_BLOCK_H_
#define FORETELL_MODELS_LAYERS_MAMBA_BLOCK_H_

#include <cstdint>
#include <optional>

#include "models/layers/activation.h"
#include "models/layers/linear.h"
#include "models/layers/module.h"
#include "models/layers/norm.h"

namespace foretell {

struct MambaBlockConfig {
  int64_t hidden = 0;
  int64_t channels = 0;  // intermediate_size
  int64_t state = 0;     // per channel
  int64_t rank = 0;      // of the projection that gives the time step
  int64_t kernel = 0;    // tokens that the convolution sees
  bool bias = false;     // of in_proj and out_proj
  bool conv_bias = true;
  bool residual_in_float32 = true;
  Activation activation = Activation::kSilu;
  double norm_epsilon = 0;
};

// torch.nn.Conv1d with as many groups as channels: weight [channels, 1,
// kernel], bias [channels].
struct DepthwiseConv1d {
  DepthwiseConv1d(const Module& at, int64_t channels, int64_t kernel,
                  bool has_bias);

  ParameterId weight;
  std::optional<ParameterId> bias;
};

// What a layer keeps while text is generated, as a prefill leaves it.
struct MambaCache {
  Tensor conv_bdk;       // the last inputs of the convolution
  Tensor recurrent_bdn;  // float32
};

struct MambaMixer {
  MambaMixer(const Module& at, const MambaBlockConfig& settings);
  // [b, s, hidden] -> the same. A cache, where there is one, is empty.
  Tensor Forward(const Tensor& hidden, MambaCache* cache) const;

  Module module;
  MambaBlockConfig config;
  ParameterId a_log;  // [channels, state]
  ParameterId skip;   // "D" [channels]
  DepthwiseConv1d conv1d;
  ActivationModule act;
  Linear in_proj;
  Linear x_proj;
  Linear dt_proj;
  Linear out_proj;

 private:
  void OfferToKernel() const;
  Tensor FillConvCache(const Tensor& hidden_bds, MambaCache& cache) const;
  Tensor Convolve(const Tensor& hidden_bds) const;
};

struct MambaBlock {
  MambaBlock(const Module& at, const MambaBlockConfig& settings);
  Tensor Forward(const Tensor& input, MambaCache* cache) const;

  Module module;
  bool residual_in_float32;
  RmsNorm norm;
  MambaMixer mixer;
};

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_MAMBA_BLOCK_H_
