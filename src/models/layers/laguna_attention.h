// Laguna's attention: a softplus of the layer's input gates what the heads
// give, by head or by dim.
//
// Source: transformers 5.23, models/laguna/modeling_laguna.py
// (LagunaAttention).
#ifndef FORETELL_MODELS_LAYERS_LAGUNA_ATTENTION_H_
#define FORETELL_MODELS_LAYERS_LAGUNA_ATTENTION_H_

#include "models/layers/attention.h"
#include "models/layers/decoder.h"
#include "models/layers/linear.h"
#include "models/layers/module.h"
#include "models/layers/norm.h"

namespace foretell {

struct LagunaAttention {
  // qk_norm_epsilon must be set.
  LagunaAttention(const Module& at, const AttentionConfig& config,
                  bool gates_by_head);
  // hidden [b, s, width] -> the same
  Tensor Forward(const Tensor& hidden, const DecoderContext& context,
                 CachedLayer* cached) const;

  Module module;
  AttentionConfig config;
  int64_t window;
  bool by_head;
  Linear q_proj;
  Linear k_proj;
  Linear v_proj;
  Linear o_proj;
  RmsNorm q_norm;
  RmsNorm k_norm;
  Linear g_proj;
};

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_LAGUNA_ATTENTION_H_
