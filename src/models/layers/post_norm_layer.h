// A decoder's layer whose attention and feed-forward each stand before a norm,
// and that before the sum: OLMo 2's.
//
// Source: transformers 5.23, models/olmo2/modeling_olmo2.py
// (Olmo2DecoderLayer), which OLMo 3 and EXAONE 4 share.
#ifndef FORETELL_MODELS_LAYERS_POST_NORM_LAYER_H_
#define FORETELL_MODELS_LAYERS_POST_NORM_LAYER_H_

#include <cstdint>

#include "models/layers/attention.h"
#include "models/layers/decoder.h"
#include "models/layers/mlp.h"
#include "models/layers/module.h"
#include "models/layers/norm.h"

namespace foretell {

struct PostNormLayer {
  PostNormLayer(const Module& at, const AttentionConfig& attention,
                double norm_epsilon, RmsScale norm_scale, int64_t intermediate,
                Activation activation);
  // hidden [b, s, width] -> the same
  Tensor Forward(const Tensor& input, const DecoderContext& context) const;

  Module module;
  GroupedQueryAttention self_attn;
  GatedMlp mlp;
  RmsNorm post_attention_layernorm;
  RmsNorm post_feedforward_layernorm;
};

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_POST_NORM_LAYER_H_
