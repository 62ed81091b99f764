// GPT-2's layers: attention with one projection for queries, keys and values, a
// feed-forward, and their block.
//
// Source: transformers 5.23, models/gpt2/modeling_gpt2.py (GPT2Attention,
// GPT2MLP, GPT2Block).
#ifndef FORETELL_MODELS_LAYERS_GPT2_BLOCK_H_
#define FORETELL_MODELS_LAYERS_GPT2_BLOCK_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "models/layers/activation.h"
#include "models/layers/dropout.h"
#include "models/layers/dynamic_cache.h"
#include "models/layers/linear.h"
#include "models/layers/norm.h"

namespace foretell {

struct Gpt2BlockConfig {
  int64_t hidden = 0;
  int64_t heads = 0;
  int64_t head_dim = 0;
  int64_t inner = 0;
  Activation activation = Activation::kGeluNew;
  double norm_epsilon = 0;
  double attention_dropout = 0;
  double residual_dropout = 0;
  bool cross_attention = false;
  bool scale_weights = true;    // by head_dim to the power of -0.5
  bool scale_by_layer = false;  // by 1 / (index + 1) as well
  int64_t positions = 0;
  bool reorder_and_upcast = false;  // scores in float32 (eager only)
};

// hidden [b, s, width] -> the same. The cross attention has its parameters but
// nothing attends through it: a step gives no encoder output.
struct Gpt2Attention {
  Gpt2Attention(const Module& at, const Gpt2BlockConfig& config, int64_t index,
                bool is_cross);
  // `cached` is filled where a cache is in use, else null.
  Tensor Forward(const Tensor& hidden, const Tensor& mask,
                 std::string_view attention, CachedLayer* cached) const;

  Module module;
  Gpt2BlockConfig config;
  double layer_number;  // from one
  double scale;
  Conv1D c_attn;
  std::optional<Conv1D> q_attn;
  Conv1D c_proj;
  Dropout attn_dropout;
  Dropout resid_dropout;
  std::optional<ValueId> bias;  // [1, 1, positions, positions], true as seen

 private:
  // Where the layer holds the mask itself (transformers 4.57), eagerly.
  Tensor MaskedAttention(const Tensor& q, const Tensor& k, const Tensor& v,
                         const Tensor& mask) const;
  Tensor UpcastAttention(const Tensor& q, const Tensor& k, const Tensor& v,
                         const Tensor& mask) const;
};

struct Gpt2Mlp {
  Gpt2Mlp(const Module& at, const Gpt2BlockConfig& config);
  Tensor Forward(Tensor hidden) const;

  Module module;
  Conv1D c_fc;
  Conv1D c_proj;
  ActivationModule act;
  Dropout dropout;
};

struct Gpt2Block {
  Gpt2Block(const Module& at, const Gpt2BlockConfig& config, int64_t index);
  Tensor Forward(Tensor hidden, const Tensor& mask, const Tensor& position_ids,
                 std::string_view attention, CachedLayer* cached) const;

  Module module;
  LayerNorm ln_1;
  Gpt2Attention attn;
  LayerNorm ln_2;
  std::optional<Gpt2Attention> crossattention;
  std::optional<LayerNorm> ln_cross_attn;
  Gpt2Mlp mlp;
};

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_GPT2_BLOCK_H_
