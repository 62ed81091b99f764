// MPT's layer: attention with linear biases added to the scores, norms without
// a bias, and a feed-forward four times as wide.
//
// Source: transformers 5.23, models/mpt/modeling_mpt.py
// (build_mpt_alibi_tensor, MptAttention, MptMLP, MptBlock).
#ifndef FORETELL_MODELS_LAYERS_MPT_BLOCK_H_
#define FORETELL_MODELS_LAYERS_MPT_BLOCK_H_

#include <cstdint>
#include <optional>

#include "models/layers/activation.h"
#include "models/layers/dropout.h"
#include "models/layers/dynamic_cache.h"
#include "models/layers/linear.h"
#include "models/layers/norm.h"
#include "models/layers/whole_heads.h"

namespace foretell {

struct MptConfig {
  WholeHeads heads;
  int64_t positions = 0;  // that the biases are made for
  double norm_epsilon = 0;
  double dropout = 0;  // of attention, and of both branches
  std::optional<double> clip;
  double scale = 1;
};

// [heads, 1, positions] float32
Tensor MptAlibi(Builder& builder, int64_t heads, int64_t positions);

// hidden [b, s, width], bias as MptAlibi, mask [b, 1, s, t] bool -> the same
struct MptAttention {
  MptAttention(const Module& at, const MptConfig& config);
  Tensor Forward(const Tensor& hidden, const Tensor& bias, const Tensor& mask,
                 CachedLayer* cached) const;

  Module module;
  MptConfig config;
  Linear Wqkv;
  Linear out_proj;
};

struct MptMlp {
  MptMlp(const Module& at, const MptConfig& config);
  Tensor Forward(const Tensor& input, const Tensor& residual) const;

  Module module;
  double dropout;
  Linear up_proj;
  ActivationModule act;
  Linear down_proj;
};

struct MptBlock {
  MptBlock(const Module& at, const MptConfig& config);
  Tensor Forward(Tensor hidden, const Tensor& bias, const Tensor& mask,
                 CachedLayer* cached) const;

  Module module;
  LayerNorm norm_1;
  MptAttention attn;
  LayerNorm norm_2;
  MptMlp ffn;
  Dropout resid_attn_dropout;
};

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_MPT_BLOCK_H_
