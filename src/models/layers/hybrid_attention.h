// The attention of hybrids with recurrent layers: grouped heads whose positions
// may be turned in part, or not at all.
//
// Source: transformers 5.23, models/{bamba,granitemoehybrid,falcon_h1,jamba,
// nemotron_h}/modeling_*.py (their Attention).
#ifndef FORETELL_MODELS_LAYERS_HYBRID_ATTENTION_H_
#define FORETELL_MODELS_LAYERS_HYBRID_ATTENTION_H_

#include <optional>
#include <string_view>
#include <utility>

#include "models/layers/attention.h"
#include "models/layers/dynamic_cache.h"
#include "models/layers/linear.h"
#include "models/layers/module.h"

namespace foretell {

struct HybridAttentionConfig {
  AttentionConfig heads;
  bool turns_part = false;  // the rotary tables may be narrower than a head
  std::optional<double> key_multiplier;
  int returning_levels = 1;  // Builder::ReturnBeside, of the weights
};

struct HybridAttention {
  HybridAttention(const Module& at, const HybridAttentionConfig& settings);
  // hidden [b, s, width] -> the same. Empty tables turn nothing.
  Tensor Forward(Tensor hidden, const std::pair<Tensor, Tensor>& rotary,
                 const Tensor& mask, std::string_view attention,
                 CachedLayer* cached) const;

  Module module;
  HybridAttentionConfig config;
  Linear q_proj;
  Linear k_proj;
  Linear v_proj;
  Linear o_proj;
};

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_HYBRID_ATTENTION_H_
