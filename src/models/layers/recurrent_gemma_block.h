// RecurrentGemma's layer: a recurrent block or attention to a window, and a
// feed-forward, each behind a norm.
//
// Source: transformers 5.23, models/recurrent_gemma/
// modeling_recurrent_gemma.py (RecurrentGemmaDecoderLayer,
// RecurrentGemmaAttention).
#ifndef FORETELL_MODELS_LAYERS_RECURRENT_GEMMA_BLOCK_H_
#define FORETELL_MODELS_LAYERS_RECURRENT_GEMMA_BLOCK_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/layers/attention.h"
#include "models/layers/dynamic_cache.h"
#include "models/layers/mlp.h"
#include "models/layers/norm.h"
#include "models/layers/read_decoder.h"
#include "models/layers/rg_lru.h"
#include "models/layers/rope.h"

namespace foretell {

struct RecurrentGemmaConfig {
  AttentionConfig attention;
  RgLruConfig recurrent;
  DecoderKeys keys;
  std::vector<bool> attends;  // by layer
  double softcap = 30;        // of the logits
};

// What a step of the model shares among its layers.
struct RecurrentGemmaCall {
  Tensor position_ids;
  Tensor mask;
  std::string attention;
  bool keeps = false;  // fills what generation keeps
};

// Its rotary embedding is its own.
struct LocalAttention {
  LocalAttention(const Module& at, const RecurrentGemmaConfig& settings);
  Tensor Forward(const Tensor& hidden, const RecurrentGemmaCall& call,
                 CachedLayer* cached) const;

  Module module;
  AttentionConfig config;
  Linear q_proj;
  Linear k_proj;
  Linear v_proj;
  Linear o_proj;
  RotaryEmbedding rotary_emb;
};

struct RecurrentGemmaBlock {
  RecurrentGemmaBlock(const Module& at, const RecurrentGemmaConfig& settings,
                      bool attends);
  Tensor Forward(const Tensor& input, const RecurrentGemmaCall& call,
                 CachedLayer& cached, RecurrentCache& state) const;
  static RmsNorm Norm(const Module& at, std::string_view name,
                      const RecurrentGemmaConfig& settings);

  Module module;
  RmsNorm temporal_pre_norm;
  std::optional<LocalAttention> attention;
  std::optional<RecurrentBlock> recurrent;
  std::optional<RmsNorm> channel_pre_norm;
  std::optional<GatedMlp> mlp_block;
};

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_RECURRENT_GEMMA_BLOCK_H_
