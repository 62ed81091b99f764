// The layer of GPT-J and CodeGen: attention beside the feed-forward, both
// behind one norm, and neighbouring dims of a head turned as pairs.
//
// Source: transformers 5.23, models/{gptj,codegen}/modeling_*.py (Attention,
// MLP, Block).
#ifndef FORETELL_MODELS_LAYERS_GPTJ_BLOCK_H_
#define FORETELL_MODELS_LAYERS_GPTJ_BLOCK_H_

#include <cstdint>
#include <optional>

#include "models/layers/activation.h"
#include "models/layers/dropout.h"
#include "models/layers/dynamic_cache.h"
#include "models/layers/linear.h"
#include "models/layers/norm.h"
#include "models/layers/whole_heads.h"

namespace foretell {

struct GptjConfig {
  WholeHeads heads;
  // One projection, in four parts of queries, values and keys, and angles in
  // float32 (CodeGen).
  bool is_fused = false;
  int64_t inner = 0;
  int64_t rotary_dim = 0;
  int64_t positions = 0;
  Activation activation = Activation::kGeluNew;
  double norm_epsilon = 0;
  double attention_dropout = 0;
  double residual_dropout = 0;
};

// hidden [b, s, width] -> the same. The mask is added, and so never empty.
struct GptjAttention {
  GptjAttention(const Module& at, const GptjConfig& config);
  Tensor Forward(const Tensor& hidden, const Tensor& mask,
                 const Tensor& position_ids, CachedLayer* cached) const;

  Module module;
  GptjConfig config;
  Dropout attn_dropout;
  Dropout resid_dropout;
  std::optional<Linear> qkv_proj;
  std::optional<Linear> k_proj;
  std::optional<Linear> v_proj;
  std::optional<Linear> q_proj;
  Linear out_proj;
  ValueId embed_positions;  // sines and cosines [positions, dims], float32

 private:
  // [b, s, h, d] each, the values [b, h, s, d]; `fused` holds what they are
  // views of for as long.
  struct Heads {
    Tensor q;
    Tensor k;
    Tensor v;
    Tensor fused;
    Tensor fused_parts;
  };
  Heads Project(const Tensor& hidden) const;
  Heads ProjectFused(const Tensor& hidden) const;
};

struct GptjMlp {
  GptjMlp(const Module& at, const GptjConfig& config);
  Tensor Forward(Tensor hidden) const;

  Module module;
  Linear fc_in;
  Linear fc_out;
  ActivationModule act;
  Dropout dropout;
};

struct GptjBlock {
  GptjBlock(const Module& at, const GptjConfig& config);
  Tensor Forward(const Tensor& hidden, const Tensor& mask,
                 const Tensor& position_ids, CachedLayer* cached) const;

  Module module;
  LayerNorm ln_1;
  GptjAttention attn;
  GptjMlp mlp;
};

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_GPTJ_BLOCK_H_
