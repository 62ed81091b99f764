// The layer that stands for attention in Qwen3-Next and Qwen3.5: a short
// convolution over queries, keys and values, and the gated delta rule.
//
// Source: transformers 5.23, models/qwen3_next/modeling_qwen3_next.py
// (Qwen3NextGatedDeltaNet, Qwen3NextRMSNormGated),
// models/qwen3_5/modeling_qwen3_5.py (Qwen3_5GatedDeltaNet), as they run
// without the packages flash-linear-attention and causal-conv1d.
#ifndef FORETELL_MODELS_LAYERS_GATED_DELTA_NET_H_
#define FORETELL_MODELS_LAYERS_GATED_DELTA_NET_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "models/layers/activation.h"
#include "models/layers/dynamic_cache.h"
#include "models/layers/linear.h"
#include "models/layers/module.h"
#include "models/layers/short_convolution.h"

namespace foretell {

struct GatedDeltaConfig {
  int64_t hidden = 0;
  int64_t key_heads = 0;  // of queries, too
  int64_t value_heads = 0;
  int64_t key_dim = 0;    // of a head
  int64_t value_dim = 0;  // of a head
  int64_t kernel = 0;     // tokens that the convolution sees
  Activation activation = Activation::kSilu;
  double norm_epsilon = 0;
  // One projection for queries, keys, values and gates, one for the rest, and
  // their results lie group by group (Qwen3-Next).
  bool joins_projections = false;

  int64_t KeyWidth() const { return key_heads * key_dim; }
  int64_t ValueWidth() const { return value_heads * value_dim; }
  int64_t Channels() const { return 2 * KeyWidth() + ValueWidth(); }
  LayerState State() const;
};

// weight [width]: an RMSNorm, then times silu of a gate in float32.
struct DeltaNetNorm {
  DeltaNetNorm(const Module& at, int64_t width, double eps);
  Tensor Forward(const Tensor& input, const Tensor& gate) const;

  Module module;
  ParameterId weight;
  double epsilon;
};

struct GatedDeltaNet {
  GatedDeltaNet(const Module& at, const GatedDeltaConfig& config);
  // [b, s, hidden] -> the same
  Tensor Forward(const Tensor& hidden, CachedLayer* cached) const;

  Module module;
  GatedDeltaConfig config;
  ParameterId dt_bias;  // [value heads]
  ParameterId a_log;    // [value heads]
  DepthwiseConv1d conv1d;
  std::optional<Linear> in_proj_qkvz;
  std::optional<Linear> in_proj_ba;
  DeltaNetNorm norm;
  Linear out_proj;
  std::optional<Linear> in_proj_qkv;
  std::optional<Linear> in_proj_z;
  std::optional<Linear> in_proj_b;
  std::optional<Linear> in_proj_a;

 private:
  struct Projected {
    Tensor mixed_bds;  // queries, keys and values
    Tensor gate_bshv;  // "z"
    Tensor beta_bsh;   // "b"
    Tensor decay_bsh;  // "a"
    Tensor whole;      // names of what the parts lie in
    Tensor whole_rest;
    std::vector<Tensor> parts;  // names of queries, keys and values before
  };
  Projected Project(const Tensor& hidden) const;
  Projected ProjectJoined(const Tensor& hidden) const;
  Tensor Convolve(Tensor mixed_bds, int64_t length, CachedLayer* cached) const;
};

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_GATED_DELTA_NET_H_
