// MiMo-V2-Flash's attention: values of another width than queries and keys and
// scaled by a number; scores lose their greatest before the softmax, which runs
// in their own dtype, with a learned sink beside them in layers with a window.
//
// Source: transformers 5.23, models/mimo_v2_flash/modeling_mimo_v2_flash.py
// (MiMoV2FlashAttention, eager_attention_forward).
#ifndef FORETELL_MODELS_LAYERS_MIMO_ATTENTION_H_
#define FORETELL_MODELS_LAYERS_MIMO_ATTENTION_H_

#include <cstdint>
#include <optional>

#include "models/layers/attention.h"
#include "models/layers/decoder.h"
#include "models/layers/linear.h"
#include "models/layers/module.h"

namespace foretell {

struct MimoAttentionConfig {
  AttentionConfig heads;
  int64_t value_dim = 0;
  double value_scale = 1;
};

struct MimoAttention {
  MimoAttention(const Module& at, const MimoAttentionConfig& config);
  // hidden [b, s, width] -> the same; eager only.
  Tensor Forward(const Tensor& hidden, const DecoderContext& context,
                 CachedLayer* cached) const;

  Module module;
  MimoAttentionConfig config;
  int64_t window;
  std::optional<ParameterId> sinks;  // [heads]
  Linear q_proj;
  Linear k_proj;
  Linear v_proj;
  Linear o_proj;
};

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_MIMO_ATTENTION_H_
