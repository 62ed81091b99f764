// Multi-head latent attention: keys and values are widened from one narrow row
// per token, which with a turned part is all that generation keeps.
//
// Source: transformers 5.23, models/deepseek_v3/modeling_deepseek_v3.py
// (DeepseekV3Attention), models/deepseek_v2/modeling_deepseek_v2.py, and the
// models that share their text.
#ifndef FORETELL_MODELS_LAYERS_LATENT_ATTENTION_H_
#define FORETELL_MODELS_LAYERS_LATENT_ATTENTION_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "models/layers/dynamic_cache.h"
#include "models/layers/linear.h"
#include "models/layers/module.h"
#include "models/layers/norm.h"
#include "models/layers/rope.h"
#include "spec/config_view.h"
#include "spec/layer_state.h"

namespace foretell {

// How queries and the turned part of keys are turned.
enum class LatentTurn {
  kInterleaved,  // neighbours make a pair
  kHalves,       // the two halves of a head do
  kComplex,      // neighbours, as complex numbers (DeepSeek-V2)
};

// A small attention of its own that chooses which keys a query meets.
struct IndexerConfig {
  int64_t heads = 64;
  int64_t head_dim = 128;
  int64_t top_k = 2048;
  bool interleaves = false;  // how it turns: pairs of neighbours, or halves
};

struct LatentConfig {
  int64_t hidden = 0;
  int64_t heads = 0;
  std::optional<int64_t> q_rank;  // nothing: queries from one product
  int64_t kv_rank = 0;
  int64_t nope_dim = 0;  // dims of a head that are not turned
  int64_t rope_dim = 0;  // and that are
  int64_t value_dim = 0;
  bool bias = false;  // of the narrowing products and of the output
  double dropout = 0;
  double norm_epsilon = 1e-6;  // of the norms of the narrow rows
  LatentTurn turn = LatentTurn::kInterleaved;
  int64_t window = 0;      // always: it attends to all tokens
  bool is_sparse = false;  // queries meet the keys that an indexer chose
  std::optional<IndexerConfig> indexer;  // this layer's own, where it has one
  int64_t key_dim() const { return nope_dim + rope_dim; }
};

// wq_b, wk, k_norm, weights_proj; takes no gradient.
struct Indexer {
  Indexer(const Module& at, const LatentConfig& config);
  // hidden [b, s, width], narrow queries [b, s, rank], mask [b, s, t] ->
  // numbers of keys [b, s, top_k], int32
  Tensor Forward(const Tensor& hidden, const Tensor& narrow,
                 const std::pair<Tensor, Tensor>& rotary, const Tensor& mask,
                 CachedLayer* cached) const;

  Module module;
  IndexerConfig config;
  int64_t rope_dim = 0;
  Linear wq_b;
  Linear wk;
  LayerNorm k_norm;
  Linear weights_proj;
};

// q_proj, or q_a_proj, q_a_layernorm and q_b_proj; kv_a_proj_with_mqa,
// kv_a_layernorm, kv_b_proj, o_proj, and the indexer where there is one.
struct LatentAttention {
  LatentAttention(const Module& at, const LatentConfig& config);
  // As GroupedQueryAttention::Forward. `chosen` are the keys that the last
  // indexer before this layer chose, and then those that this layer met; null
  // where layers share none.
  Tensor Forward(const Tensor& hidden, const std::pair<Tensor, Tensor>& rotary,
                 const Tensor& mask, std::string_view attention,
                 CachedLayer* cached, Tensor* chosen = nullptr) const;
  // True where `chosen` [b, s, n] does not name the key: [b, 1, s, t].
  Tensor OtherKeys(const Tensor& hidden, const Tensor& keys,
                   const Tensor& chosen) const;
  // latent [b, 1, t, rank] and turned [b, 1, t, rope] -> keys
  // [b, h, t, nope + rope] and values [b, h, t, v].
  std::pair<Tensor, Tensor> Widen(const Tensor& latent,
                                  const Tensor& turned) const;

  Module module;
  LatentConfig config;
  std::optional<Linear> q_proj;
  std::optional<Linear> q_a_proj;
  std::optional<RmsNorm> q_a_layernorm;
  std::optional<Linear> q_b_proj;
  Linear kv_a_proj_with_mqa;
  RmsNorm kv_a_layernorm;
  Linear kv_b_proj;
  Linear o_proj;
  std::optional<Indexer> indexer;
};

// q [b, h, s, d] and k [b, 1, s, d], turned pair by pair of neighbours; heads
// lie along `axis`.
std::pair<Tensor, Tensor> ApplyInterleavedRotary(const Tensor& q,
                                                 const Tensor& k,
                                                 Tensor cosines, Tensor sines,
                                                 int axis = 1);

struct LatentDefaults {
  int64_t hidden = 7168;
  int64_t heads = 128;
  std::optional<int64_t> kv_heads = 128;  // nothing: as many as heads
  bool kv_heads_may_be_null = true;
  int64_t q_rank = 1536;
  bool q_rank_may_be_null = true;
  int64_t kv_rank = 512;
  int64_t nope_dim = 128;
  int64_t rope_dim = 64;
  int64_t value_dim = 128;
  bool dropout_may_be_null = false;
  // Another name of qk_rope_head_dim, which decides; empty where none is.
  std::string_view rope_alias = {};
};

// hidden_size, num_attention_heads, num_key_value_heads, the ranks and dims,
// attention_bias and attention_dropout.
LatentConfig ReadLatent(const ConfigView& config,
                        const LatentDefaults& defaults);

// head_dim as the class holds it: the turned part of a head. Where it is no
// field of the class, a file's own decides.
int64_t ReadTurnedDim(const ConfigView& config, const LatentConfig& attention,
                      bool is_field);

// Findings where the scale of the scores cannot be worked out, or where there
// is no angle for each turned dim.
void CheckLatentRope(const ConfigView& config, const RopeConfig& rope,
                     const LatentConfig& attention);

LayerState StateOf(const LatentConfig& attention);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_LATENT_ATTENTION_H_
