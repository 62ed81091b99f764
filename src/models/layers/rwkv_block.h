// RWKV-4's block: a weighted sum over all earlier tokens, kept as a numerator,
// a denominator and the largest exponent so far, and a feed-forward, both of
// which mix each token with the one before it.
//
// Source: transformers 5.23, models/rwkv/modeling_rwkv.py (RwkvBlock,
// rwkv_linear_attention_cpu), as it runs without its CUDA kernel.
#ifndef FORETELL_MODELS_LAYERS_RWKV_BLOCK_H_
#define FORETELL_MODELS_LAYERS_RWKV_BLOCK_H_

#include <array>
#include <cstdint>
#include <optional>

#include "models/layers/linear.h"
#include "models/layers/module.h"
#include "models/layers/norm.h"

namespace foretell {

struct RwkvConfig {
  int64_t hidden = 0;
  int64_t attention = 0;  // attention_hidden_size
  int64_t intermediate = 0;
  double norm_epsilon = 0;
};

// What generation keeps, [b, hidden, layers] each: the last inputs of the
// feed-forwards and of the attentions, then numerators, denominators and
// largest exponents in float32.
using RwkvState = std::array<Tensor, 5>;

struct RwkvAttention {
  RwkvAttention(const Module& at, const RwkvConfig& config, int64_t layer);
  // `state` is null where none is kept.
  Tensor Forward(const Tensor& hidden, RwkvState* state) const;

  Module module;
  int64_t layer;
  ParameterId time_decay;  // [attention]
  ParameterId time_first;
  ParameterId mix_key;  // [1, 1, hidden]
  ParameterId mix_value;
  ParameterId mix_receptance;
  Module time_shift;
  Linear key;
  Linear value;
  Linear receptance;
  Linear output;
};

struct RwkvFeedForward {
  RwkvFeedForward(const Module& at, const RwkvConfig& config, int64_t layer);
  Tensor Forward(const Tensor& hidden, RwkvState* state) const;

  Module module;
  int64_t layer;
  Module time_shift;
  ParameterId mix_key;  // [1, 1, hidden]
  ParameterId mix_receptance;
  Linear key;
  Linear receptance;
  Linear value;
};

struct RwkvBlock {
  RwkvBlock(const Module& at, const RwkvConfig& config, int64_t layer);
  Tensor Forward(const Tensor& input, RwkvState* state) const;

  Module module;
  std::optional<LayerNorm> pre_ln;  // of the first block
  LayerNorm ln1;
  LayerNorm ln2;
  RwkvAttention attention;
  RwkvFeedForward feed_forward;
};

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_RWKV_BLOCK_H_
