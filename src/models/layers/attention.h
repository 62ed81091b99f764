// How queries meet keys and values: the attention functions that transformers
// offers every model, and the grouped-query attention that decoders share.
//
// Source: transformers 5.23, models/llama/modeling_llama.py
// (eager_attention_forward, LlamaAttention),
// models/{gemma2,gpt_oss}/modeling_*.py (eager_attention_forward),
// integrations/sdpa_attention.py; the attention of models/{smollm3,olmo,olmo2,
// apertus,exaone4,bitnet,seed_oss,ministral3,nemotron}/modeling_*.py.
#ifndef FORETELL_MODELS_LAYERS_ATTENTION_H_
#define FORETELL_MODELS_LAYERS_ATTENTION_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/layers/dynamic_cache.h"
#include "models/layers/linear.h"
#include "models/layers/module.h"
#include "models/layers/norm.h"
#include "models/layers/rope.h"

namespace foretell {

struct AttentionCall {
  Tensor mask;  // empty where there is none
  double dropout = 0;
  double scale = 1;
  bool causal = true;                   // meant where there is no mask
  std::string_view attention = "sdpa";  // or "eager"
  std::optional<double> softcap;        // softcap * tanh(scores / softcap)
  int returning_levels = 1;             // Builder::ReturnBeside, of the weights
  // [h], a score that each head gives to no token; empty where there is none.
  // Eager only.
  Tensor sinks;
};

// q [b, h, s, d], k and v [b, h_kv, t, d] -> [b, s, h, d].
Tensor Attend(const Tensor& q, const Tensor& k, const Tensor& v,
              const AttentionCall& call);

// Where queries and keys pass their norms.
enum class QkNorm {
  kHeads,       // each head, before the heads stand ahead of the tokens (Qwen3)
  kMovedHeads,  // each head, behind that (Apertus, EXAONE 4)
  kWhole,       // all heads as one, before they are told apart (OLMo 2)
};

// Queries multiplied by 1 + beta log(1 + floor(position / original)).
struct QueryScale {
  double beta = 0;
  double original_positions = 1;
};

struct GroupedQueryAttention;

struct AttentionConfig {
  int64_t hidden = 0;
  int64_t heads = 0;
  int64_t kv_heads = 0;
  int64_t head_dim = 0;
  bool qkv_bias = false;
  bool output_bias = false;
  double dropout = 0;
  int64_t window = 0;  // tokens that a query sees; 0: all before it
  // What scores are multiplied by; nothing: 1 / sqrt(head_dim).
  std::optional<double> scale;
  std::optional<double> softcap;  // of the scores (Gemma 2); eager only
  // Not causal where no mask says so: only sdpa's kernels look at it.
  bool causal = true;
  // Set where queries and keys pass an RMSNorm.
  std::optional<double> qk_norm_epsilon;
  QkNorm qk_norm = QkNorm::kHeads;
  RmsScale qk_norm_scale = RmsScale::kWeight;
  // What leaves the projections is held within -clip and clip (OLMo).
  std::optional<double> clip;
  // All three are projected before heads are told apart (OLMo).
  bool projects_first = false;
  bool has_sinks = false;  // a learned score to no token (GPT-OSS)
  // How queries and keys are turned; null: not at all.
  RotaryTurn turn = ApplyRotary;
  std::optional<QueryScale> query_scale;  // behind the turn (Ministral 3)
  // Set where the joined heads pass an RMSNorm before the output projection.
  std::optional<double> output_norm_epsilon;
  // Modules that some families name otherwise.
  std::string_view q_norm_name = "q_norm";
  std::string_view k_norm_name = "k_norm";
  std::string_view output_name = "o_proj";
  double output_dropout = 0;  // behind the output projection, as a function
  // Registers what a family has behind the projections, and hooks it in.
  std::function<void(const Module& at, GroupedQueryAttention& attention)>
      extend;
};

// What a family does to queries and keys, whose names take on the results.
// Gives the other names that its forward holds to its end.
using QueryKeyHook = std::function<std::vector<Tensor>(
    Tensor& q, Tensor& k, const std::pair<Tensor, Tensor>& rotary)>;

// The cache, the attention function and the heads joined again, between turned
// queries, keys and values [b, h, s, d] and the output projection:
// [b, s, heads x d]. The caller's names take on the cache's keys and values.
Tensor AttendOverCache(const AttentionConfig& config, const Tensor& q,
                       Tensor& k, Tensor& v, const Tensor& mask,
                       std::string_view attention, CachedLayer* cached,
                       const Tensor& sinks = Tensor());

// q_proj, k_proj, v_proj, o_proj and, in some families, q_norm and k_norm,
// sinks, or attn_sub_norm.
struct GroupedQueryAttention {
  GroupedQueryAttention(const Module& at, const AttentionConfig& config);
  // hidden [b, s, width] -> the same; `rotary` holds cosines and sines.
  // `cached` is filled where a cache is in use, else null; `position_ids` [1,
  // s] are looked at where the queries are scaled by them.
  Tensor Forward(const Tensor& hidden, const std::pair<Tensor, Tensor>& rotary,
                 const Tensor& mask, std::string_view attention,
                 CachedLayer* cached, const Tensor& position_ids = {}) const;

  Module module;
  AttentionConfig config;
  std::optional<ParameterId> sinks;  // [heads]
  Linear q_proj;
  Linear k_proj;
  Linear v_proj;
  Linear o_proj;
  std::optional<RmsNorm> q_norm;
  std::optional<RmsNorm> k_norm;
  std::optional<RmsNorm> attn_sub_norm;
  // Of [b, s, h, d], then of [b, h, s, d], before and behind the turn.
  QueryKeyHook before_transpose;
  QueryKeyHook before_turn;
  QueryKeyHook behind_turn;

 private:
  Tensor Project(const Linear& linear, const std::optional<RmsNorm>& norm,
                 const Tensor& hidden) const;
  Tensor Heads(Tensor projected, const std::optional<RmsNorm>& norm) const;
};

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_ATTENTION_H_
