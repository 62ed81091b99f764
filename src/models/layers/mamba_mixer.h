// The mixer of Mamba, whose convolution and selective scan take the place of
// attention.
//
// Source: transformers 5.23, models/mamba/modeling_mamba.py (MambaMixer), as it
// runs without the packages mamba-ssm and causal-conv1d;
// models/falcon_mamba/modeling_falcon_mamba.py, whose mixer differs by three
// norms.
#ifndef FORETELL_MODELS_LAYERS_MAMBA_MIXER_H_
#define FORETELL_MODELS_LAYERS_MAMBA_MIXER_H_

#include <cstdint>
#include <optional>

#include "models/layers/activation.h"
#include "models/layers/linear.h"
#include "models/layers/module.h"
#include "models/layers/norm.h"
#include "models/layers/short_convolution.h"
#include "spec/layer_state.h"

namespace foretell {

struct MambaMixerConfig {
  int64_t hidden = 0;
  int64_t channels = 0;  // intermediate_size
  int64_t state = 0;     // per channel
  int64_t rank = 0;      // of the projection that gives the time step
  int64_t kernel = 0;    // tokens that the convolution sees
  bool bias = false;     // of in_proj and out_proj
  bool conv_bias = true;
  Activation activation = Activation::kSilu;
  double norm_epsilon = 0;
  // Set where time step, B and C pass a norm without a weight (FalconMamba).
  std::optional<double> mixer_norm_epsilon;
  // The same of norms with a weight (Jamba).
  std::optional<double> weighted_norm_epsilon;
  bool asks_kernel = true;  // MambaMixer::OfferToKernel
};

// The state that a layer of this mixer keeps.
LayerState StateOf(const MambaMixerConfig& config);
// The extents of its recurrent state behind the batch.
Shape RecurrentExtents(const MambaMixerConfig& config);

// x over its root mean square, in float32. The weight of ones is a buffer that
// only a fused kernel would read.
struct WeightlessRmsNorm {
  WeightlessRmsNorm(const Module& at, int64_t width, double eps);
  Tensor Forward(const Tensor& x) const;

  Module module;
  double epsilon;
};

struct MambaMixer {
  MambaMixer(const Module& at, const MambaMixerConfig& settings);
  // [b, s, hidden] -> the same. A filled cache meets one more token.
  Tensor Forward(const Tensor& hidden, RecurrentCache* cache) const;

  Module module;
  MambaMixerConfig config;
  ParameterId a_log;  // [channels, state]
  ParameterId skip;   // "D" [channels]
  DepthwiseConv1d conv1d;
  ActivationModule act;
  Linear in_proj;
  Linear x_proj;
  Linear dt_proj;
  Linear out_proj;
  std::optional<WeightlessRmsNorm> dt_layernorm;
  std::optional<WeightlessRmsNorm> b_layernorm;
  std::optional<WeightlessRmsNorm> c_layernorm;
  // Under the same names.
  std::optional<RmsNorm> dt_weighted_norm;
  std::optional<RmsNorm> b_weighted_norm;
  std::optional<RmsNorm> c_weighted_norm;

 private:
  void OfferToKernel() const;
};

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_MAMBA_MIXER_H_
