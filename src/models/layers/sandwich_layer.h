// A decoder's layer whose attention and feed-forward each stand between two
// norms, the second before the sum: Gemma 2's.
//
// Source: transformers 5.23, models/gemma2/modeling_gemma2.py
// (Gemma2DecoderLayer).
#ifndef FORETELL_MODELS_LAYERS_SANDWICH_LAYER_H_
#define FORETELL_MODELS_LAYERS_SANDWICH_LAYER_H_

#include <cstdint>

#include "models/layers/attention.h"
#include "models/layers/decoder.h"
#include "models/layers/mlp.h"
#include "models/layers/module.h"
#include "models/layers/norm.h"

namespace foretell {

struct SandwichLayer {
  // All four norms multiply by 1 + weight.
  SandwichLayer(const Module& at, const AttentionConfig& attention,
                double norm_epsilon, int64_t intermediate,
                Activation activation);
  // hidden [b, s, width] -> the same
  Tensor Forward(const Tensor& input, const DecoderContext& context) const;

  Module module;
  GroupedQueryAttention self_attn;
  GatedMlp mlp;
  RmsNorm input_layernorm;
  RmsNorm post_attention_layernorm;
  RmsNorm pre_feedforward_layernorm;
  RmsNorm post_feedforward_layernorm;
};

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_SANDWICH_LAYER_H_
