// GPT-BigCode's layers: attention with one projection, a feed-forward, and
// their block.
//
// Source: transformers 5.23, models/gpt_bigcode/modeling_gpt_bigcode.py
// (GPTBigCodeAttention, GPTBigCodeMLP, GPTBigCodeBlock).
#ifndef FORETELL_MODELS_LAYERS_BIGCODE_BLOCK_H_
#define FORETELL_MODELS_LAYERS_BIGCODE_BLOCK_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "models/layers/activation.h"
#include "models/layers/dropout.h"
#include "models/layers/dynamic_cache.h"
#include "models/layers/linear.h"
#include "models/layers/norm.h"
#include "models/layers/whole_heads.h"

namespace foretell {

struct BigcodeConfig {
  WholeHeads heads;
  int64_t inner = 0;
  Activation activation = Activation::kGeluTanh;
  double norm_epsilon = 0;
  double attention_dropout = 0;
  double residual_dropout = 0;
  bool scales = true;       // by head_dim to the power of -0.5
  bool shares_keys = true;  // one head of keys and values
  bool cross_attention = false;
};

// hidden [b, s, width] -> the same. The cross attention has its parameters but
// nothing attends through it: a step gives no encoder output.
struct BigcodeAttention {
  BigcodeAttention(const Module& at, const BigcodeConfig& config,
                   bool is_cross);
  Tensor Forward(const Tensor& hidden, const Tensor& mask,
                 std::string_view attention, CachedLayer* cached) const;

  Module module;
  BigcodeConfig config;
  Linear c_attn;
  std::optional<Linear> q_attn;
  Linear c_proj;
  Dropout resid_dropout;
};

struct BigcodeMlp {
  BigcodeMlp(const Module& at, const BigcodeConfig& config);
  Tensor Forward(Tensor hidden) const;

  Module module;
  Linear c_fc;
  Linear c_proj;
  ActivationModule act;
  Dropout dropout;
};

struct BigcodeBlock {
  BigcodeBlock(const Module& at, const BigcodeConfig& config);
  Tensor Forward(Tensor hidden, const Tensor& mask, std::string_view attention,
                 CachedLayer* cached) const;

  Module module;
  LayerNorm ln_1;
  BigcodeAttention attn;
  LayerNorm ln_2;
  std::optional<BigcodeAttention> crossattention;
  std::optional<LayerNorm> ln_cross_attn;
  BigcodeMlp mlp;
};

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_BIGCODE_BLOCK_H_
