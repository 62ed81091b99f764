// Bloom's layer: attention with linear biases inside the product of queries and
// keys, and a feed-forward with a GELU of its own.
//
// Source: transformers 5.23, models/bloom/modeling_bloom.py (BloomAttention,
// BloomMLP, BloomGelu, BloomBlock).
#ifndef FORETELL_MODELS_LAYERS_BLOOM_BLOCK_H_
#define FORETELL_MODELS_LAYERS_BLOOM_BLOCK_H_

#include <cstdint>

#include "models/layers/dropout.h"
#include "models/layers/dynamic_cache.h"
#include "models/layers/linear.h"
#include "models/layers/norm.h"
#include "models/layers/whole_heads.h"

namespace foretell {

struct BloomConfig {
  WholeHeads heads;
  double norm_epsilon = 0;
  double hidden_dropout = 0;
  double attention_dropout = 0;
  bool residual_is_normed = false;  // apply_residual_connection_post_layernorm
  // Products slice by slice, as they were trained: not modelled.
  bool is_sliced = false;
};

// x * 0.5 * (1 + tanh(…)) as an autograd function of its own, which keeps its
// input alone.
Tensor BloomGelu(const Tensor& x);

// hidden and residual [b, s, width], alibi [b h, 1, t], mask [b, 1, s, t] ->
// [b, s, width]
struct BloomAttention {
  BloomAttention(const Module& at, const BloomConfig& config);
  Tensor Forward(const Tensor& hidden, const Tensor& residual,
                 const Tensor& alibi, const Tensor& mask,
                 CachedLayer* cached) const;

  Module module;
  BloomConfig config;
  Linear query_key_value;
  Linear dense;
  Dropout attention_dropout;
};

struct BloomMlp {
  BloomMlp(const Module& at, const BloomConfig& config);
  Tensor Forward(const Tensor& input, const Tensor& residual) const;

  Module module;
  double dropout;
  Linear dense_h_to_4h;
  Module gelu_impl;
  Linear dense_4h_to_h;
};

struct BloomBlock {
  BloomBlock(const Module& at, const BloomConfig& config);
  Tensor Forward(const Tensor& hidden, const Tensor& alibi, const Tensor& mask,
                 CachedLayer* cached) const;

  Module module;
  bool residual_is_normed;
  LayerNorm input_layernorm;
  BloomAttention self_attention;
  LayerNorm post_attention_layernorm;
  BloomMlp mlp;
};

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_BLOOM_BLOCK_H_
