// OPT's layer: attention and an ungated feed-forward over rows, each behind a
// LayerNorm or ahead of one.
//
// Source: transformers 5.23, models/opt/modeling_opt.py (OPTAttention,
// OPTDecoderLayer).
#ifndef FORETELL_MODELS_LAYERS_OPT_LAYER_H_
#define FORETELL_MODELS_LAYERS_OPT_LAYER_H_

#include <cstdint>
#include <string_view>

#include "models/layers/activation.h"
#include "models/layers/dropout.h"
#include "models/layers/dynamic_cache.h"
#include "models/layers/linear.h"
#include "models/layers/norm.h"
#include "models/layers/whole_heads.h"

namespace foretell {

struct OptLayerConfig {
  WholeHeads heads;
  int64_t inner = 0;
  Activation activation = Activation::kRelu;
  bool norms_before = true;
  bool bias = true;
  LayerNormTerms norm_terms = LayerNormTerms::kBoth;
  double dropout = 0;
  double attention_dropout = 0;
};

LayerNorm OptNorm(const Module& at, std::string_view name,
                  const OptLayerConfig& config);

// hidden [b, s, width] -> the same
struct OptAttention {
  OptAttention(const Module& at, const OptLayerConfig& config);
  Tensor Forward(const Tensor& hidden, const Tensor& mask,
                 std::string_view attention, CachedLayer* cached) const;

  Module module;
  WholeHeads heads;
  double dropout;
  Linear k_proj;
  Linear v_proj;
  Linear q_proj;
  Linear out_proj;
};

struct OptLayer {
  OptLayer(const Module& at, const OptLayerConfig& config);
  Tensor Forward(const Tensor& input, const Tensor& mask,
                 const Tensor& position_ids, std::string_view attention,
                 CachedLayer* cached) const;

  Module module;
  bool norms_before;
  double dropout;
  OptAttention self_attn;
  ActivationModule activation_fn;
  LayerNorm self_attn_layer_norm;
  Linear fc1;
  Linear fc2;
  LayerNorm final_layer_norm;
};

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_OPT_LAYER_H_
