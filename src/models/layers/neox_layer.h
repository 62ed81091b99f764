// GPT-NeoX's layer: attention that turns a part of each head, and a
// feed-forward beside it or behind it.
//
// Source: transformers 5.23, models/gpt_neox/modeling_gpt_neox.py
// (GPTNeoXAttention, GPTNeoXMLP, GPTNeoXLayer).
#ifndef FORETELL_MODELS_LAYERS_NEOX_LAYER_H_
#define FORETELL_MODELS_LAYERS_NEOX_LAYER_H_

#include <cstdint>
#include <string_view>
#include <utility>

#include "models/layers/activation.h"
#include "models/layers/dropout.h"
#include "models/layers/generation_cache.h"
#include "models/layers/linear.h"
#include "models/layers/norm.h"
#include "models/layers/whole_heads.h"

namespace foretell {

struct NeoxLayerConfig {
  WholeHeads heads;
  int64_t inner = 0;
  Activation activation = Activation::kGelu;
  double norm_epsilon = 0;
  double attention_dropout = 0;
  double hidden_dropout = 0;
  bool bias = true;
  bool is_parallel = true;
};

// What every layer is given.
struct NeoxContext {
  Tensor mask;
  Tensor position_ids;
  std::pair<Tensor, Tensor> rotary;  // cosines and sines [b, s, dims]
  std::string_view attention;
  GenerationCache* cache = nullptr;
};

// hidden [b, s, width] -> the same
struct NeoxAttention {
  NeoxAttention(const Module& at, const NeoxLayerConfig& config);
  Tensor Forward(const Tensor& hidden, const NeoxContext& context) const;

  Module module;
  int64_t head_dim;
  double dropout;
  Linear query_key_value;
  Linear dense;
};

struct NeoxMlp {
  NeoxMlp(const Module& at, const NeoxLayerConfig& config);
  Tensor Forward(const Tensor& input) const;

  Module module;
  Linear dense_h_to_4h;
  Linear dense_4h_to_h;
  ActivationModule act;
};

struct NeoxLayer {
  NeoxLayer(const Module& at, const NeoxLayerConfig& config);
  Tensor Forward(const Tensor& hidden, const NeoxContext& context) const;

  Module module;
  bool is_parallel;
  LayerNorm input_layernorm;
  LayerNorm post_attention_layernorm;
  Dropout post_attention_dropout;
  Dropout post_mlp_dropout;
  NeoxAttention attention;
  NeoxMlp mlp;
};

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_NEOX_LAYER_H_
