// XGLM's layer and its embeddings: attention over heads laid behind one
// another, scores held above the smallest number, and positions from a table
// of sines that is no parameter.
//
// Source: transformers 5.23, models/xglm/modeling_xglm.py
// (XGLMScaledWordEmbedding, XGLMSinusoidalPositionalEmbedding, XGLMAttention,
// XGLMDecoderLayer).
#ifndef FORETELL_MODELS_LAYERS_XGLM_LAYER_H_
#define FORETELL_MODELS_LAYERS_XGLM_LAYER_H_

#include <cstdint>
#include <optional>

#include "models/layers/activation.h"
#include "models/layers/dropout.h"
#include "models/layers/dynamic_cache.h"
#include "models/layers/linear.h"
#include "models/layers/norm.h"
#include "models/layers/whole_heads.h"

namespace foretell {

struct XglmConfig {
  WholeHeads heads;
  int64_t inner = 0;
  int64_t vocabulary = 0;
  int64_t positions = 0;
  double embedding_scale = 1;
  Activation activation = Activation::kGelu;
  double dropout = 0;
  double attention_dropout = 0;
  double activation_dropout = 0;
  bool cross_attention = false;
};

// Rows times a number.
struct XglmEmbedding {
  XglmEmbedding(const Module& at, const XglmConfig& config);
  Tensor Forward(const Tensor& ids) const;

  Module module;
  double scale;
  ParameterId weight;
};

struct XglmPositions {
  XglmPositions(const Module& at, const XglmConfig& config);
  // [1, s] -> [1, s, width]; `past` tokens lie in a cache
  Tensor Forward(const Tensor& position_ids, int64_t past) const;

  Module module;
  ValueId weights;  // [positions + 2, width]
};

// hidden [b, s, width] -> the same. The cross attention has its parameters but
// nothing attends through it: a step gives no encoder output.
struct XglmAttention {
  XglmAttention(const Module& at, const XglmConfig& config);
  Tensor Forward(const Tensor& hidden, const Tensor& mask,
                 CachedLayer* cached) const;

  Module module;
  WholeHeads heads;
  double dropout;
  Linear k_proj;
  Linear v_proj;
  Linear q_proj;
  Linear out_proj;
};

struct XglmLayer {
  XglmLayer(const Module& at, const XglmConfig& config);
  Tensor Forward(const Tensor& input, const Tensor& mask,
                 CachedLayer* cached) const;

  Module module;
  XglmConfig config;
  XglmAttention self_attn;
  ActivationModule activation_fn;
  std::optional<XglmAttention> encoder_attn;
  std::optional<LayerNorm> encoder_attn_layer_norm;
  LayerNorm self_attn_layer_norm;
  Linear fc1;
  Linear fc2;
  LayerNorm final_layer_norm;
};

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_XGLM_LAYER_H_
