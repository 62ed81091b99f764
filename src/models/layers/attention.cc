#include "models/layers/attention.h"

#include <cmath>
#include <utility>
#include <vector>

#include "graph/ops/elementwise.h"
#include "graph/ops/in_place.h"
#include "graph/ops/reduction.h"
#include "graph/ops/sorting.h"
#include "graph/ops/views.h"
#include "models/layers/dropout.h"
#include "models/layers/functional.h"
#include "models/layers/rope.h"
#include "models/layers/sdpa_choice.h"

namespace foretell {
namespace {

// repeat_kv: each head of keys serves `repeats` heads of queries.
Tensor RepeatHeads(const Tensor& x, int64_t repeats) {
  if (repeats == 1) return x;
  const int64_t batch = x.size(0);
  const int64_t heads = x.size(1);
  const int64_t length = x.size(2);
  const int64_t dim = x.size(3);
  const Tensor spread =
      Expand(Unsqueeze(x, 2), {batch, heads, repeats, length, dim});
  return Reshape(spread, {batch, heads * repeats, length, dim});
}

Tensor EagerAttention(const Tensor& q, const Tensor& k, const Tensor& v,
                      const AttentionCall& call) {
  const int64_t groups = k.size(1) > 0 ? q.size(1) / k.size(1) : 1;
  const Tensor keys = RepeatHeads(k, groups);
  const Tensor values = RepeatHeads(v, groups);
  Tensor weights = MulScalar(Matmul(q, Transpose(keys, 2, 3)), call.scale);
  if (call.softcap) weights = SoftCap(std::move(weights), *call.softcap);
  if (!call.mask.empty()) weights = Add(weights, call.mask);
  weights = To(SoftmaxInFloat(weights, -1), q.dtype());
  weights = ApplyDropout(weights, call.dropout);
  q.builder().ReturnBeside(weights, call.returning_levels);
  Tensor out = Matmul(weights, values);
  return Contiguous(Transpose(out, 1, 2));
}

// GPT-OSS: the sinks stand as one more key in the softmax, which runs in the
// scores' own dtype; their share is then dropped.
Tensor SinkAttention(const Tensor& q, const Tensor& k, const Tensor& v,
                     const AttentionCall& call) {
  const int64_t groups = k.size(1) > 0 ? q.size(1) / k.size(1) : 1;
  const Tensor keys = RepeatHeads(k, groups);
  const Tensor values = RepeatHeads(v, groups);
  Tensor weights = MulScalar(Matmul(q, Transpose(keys, 2, 3)), call.scale);
  if (!call.mask.empty()) weights = Add(weights, call.mask);
  const Tensor sinks =
      Expand(View(call.sinks, {1, -1, 1, 1}), {q.size(0), -1, q.size(2), -1});
  Tensor scores = Cat2(weights, sinks, -1);
  const auto shifted = [&] {
    const Tensor most = MaxLast(scores).first;
    return Sub(scores, most);
  };
  scores = shifted();
  const Tensor shares = SoftmaxAsIs(scores, -1);
  const Tensor kept = Slice(shares, 3, 0, -1);
  weights = To(ApplyDropout(kept, call.dropout), values.dtype());
  q.builder().ReturnBeside(weights);
  const Tensor out = Matmul(weights, values);
  return Contiguous(Transpose(out, 1, 2));
}

// pack_gqa: the query heads of one key head as if they were its queries.
Tensor PackHeads(const Tensor& x, int64_t groups) {
  if (x.empty() || x.size(1) == 1 || groups == 0) return x;
  return Reshape(x, {x.size(0), x.size(1) / groups, groups, x.size(3)});
}

// sdpa_attention_forward
Tensor SdpaAttention(Tensor q, Tensor k, Tensor v, const AttentionCall& call) {
  const int64_t batch = q.size(0);
  const int64_t queries = q.size(2);
  const int64_t dim = v.size(3);
  const int64_t groups = k.size(1) > 0 ? q.size(1) / k.size(1) : 1;
  Tensor mask = call.mask;
  // Without a mask the kernels serve grouped heads themselves.
  const bool kernel_groups = mask.empty() && dim <= 256;
  if (groups > 1 && !kernel_groups) {
    if (queries == 1) {
      q = PackHeads(q, groups);
      mask = PackHeads(mask, groups);
    } else {
      k = RepeatHeads(k, groups);
      v = RepeatHeads(v, groups);
    }
  }
  const bool causal = queries > 1 && mask.empty() && call.causal;
  Tensor out = SdpaKernel(q, k, v, mask, call.dropout, causal, call.scale);
  out = Reshape(out, {batch, -1, queries, dim});
  return Contiguous(Transpose(out, 1, 2));
}

// get_llama_4_attn_scale of Ministral 3: floor and log run on whole numbers
// divided to float32.
Tensor ScaleQueries(const Tensor& q, const Tensor& position_ids,
                    const QueryScale& config) {
  const auto scale = [&] {
    const auto grown = [&] {
      Tensor out = DivScalar(position_ids, config.original_positions);
      out = Floor(std::move(out));
      out = AddScalar(std::move(out), 1);
      out = Log(std::move(out));
      out = MulScalar(std::move(out), config.beta);
      return AddScalar(std::move(out), 1);
    };
    const Tensor scaling = grown();
    return Unsqueeze(Unsqueeze(scaling, 1), 3);
  };
  return Mul(q, To(scale(), q.dtype()));
}

}  // namespace

Tensor Attend(const Tensor& q, const Tensor& k, const Tensor& v,
              const AttentionCall& call) {
  if (!call.sinks.empty()) return SinkAttention(q, k, v, call);
  return call.attention == "eager" ? EagerAttention(q, k, v, call)
                                   : SdpaAttention(q, k, v, call);
}

GroupedQueryAttention::GroupedQueryAttention(const Module& at,
                                             const AttentionConfig& settings)
    : module(at),
      config(settings),
      sinks(config.has_sinks
                ? std::optional(at.Parameter("sinks", {config.heads}))
                : std::nullopt),
      q_proj(at.Child("q_proj", RegionKind::kLinear), config.hidden,
             config.heads * config.head_dim, config.qkv_bias),
      k_proj(at.Child("k_proj", RegionKind::kLinear), config.hidden,
             config.kv_heads * config.head_dim, config.qkv_bias),
      v_proj(at.Child("v_proj", RegionKind::kLinear), config.hidden,
             config.kv_heads * config.head_dim, config.qkv_bias),
      o_proj(at.Child(config.output_name, RegionKind::kLinear),
             config.heads * config.head_dim, config.hidden,
             config.output_bias) {
  if (config.qk_norm_epsilon) {
    const bool whole = config.qk_norm == QkNorm::kWhole;
    q_norm.emplace(at.Child(config.q_norm_name, RegionKind::kNorm),
                   whole ? config.heads * config.head_dim : config.head_dim,
                   *config.qk_norm_epsilon, config.qk_norm_scale);
    k_norm.emplace(at.Child(config.k_norm_name, RegionKind::kNorm),
                   whole ? config.kv_heads * config.head_dim : config.head_dim,
                   *config.qk_norm_epsilon, config.qk_norm_scale);
  }
  if (config.output_norm_epsilon) {
    // Of the hidden width, whatever the heads' is.
    attn_sub_norm.emplace(at.Child("attn_sub_norm", RegionKind::kNorm),
                          config.hidden, *config.output_norm_epsilon);
  }
  if (config.extend) config.extend(at, *this);
}

Tensor GroupedQueryAttention::Project(const Linear& linear,
                                      const std::optional<RmsNorm>& norm,
                                      const Tensor& hidden) const {
  Tensor x = linear.Forward(hidden);
  if (norm && config.qk_norm == QkNorm::kWhole) x = norm->Forward(x);
  return x;
}

// [b, s, width] -> [b, heads, s, head_dim], or before the transpose.
Tensor GroupedQueryAttention::Heads(Tensor x,
                                    const std::optional<RmsNorm>& norm) const {
  x = View(x, {x.size(0), x.size(1), -1, config.head_dim});
  if (norm && config.qk_norm == QkNorm::kHeads) x = norm->Forward(x);
  return before_transpose ? x : Transpose(x, 1, 2);
}

Tensor GroupedQueryAttention::Forward(const Tensor& hidden,
                                      const std::pair<Tensor, Tensor>& rotary,
                                      const Tensor& mask,
                                      std::string_view attention,
                                      CachedLayer* cached,
                                      const Tensor& position_ids) const {
  const Scope scope = module.Enter();
  if (config.clip && config.qkv_bias) {
    module.builder().Fail(
        "a projection with a bias is clipped through a view, which is not "
        "modelled");
  }
  Tensor q = Project(q_proj, q_norm, hidden);
  if (!config.projects_first) q = Heads(std::move(q), q_norm);
  Tensor k = Project(k_proj, k_norm, hidden);
  if (!config.projects_first) k = Heads(std::move(k), k_norm);
  Tensor v = Project(v_proj, std::nullopt, hidden);
  for (Tensor* one : {&q, &k, &v}) {
    if (!config.clip) break;
    *one = ClampInto(std::move(*one), -*config.clip, *config.clip);
  }
  if (config.projects_first) {
    q = Heads(std::move(q), q_norm);
    k = Heads(std::move(k), k_norm);
  }
  v = Heads(std::move(v), std::nullopt);
  std::vector<std::vector<Tensor>> names;
  if (before_transpose) {
    names.push_back(before_transpose(q, k, rotary));
    for (Tensor* one : {&q, &k, &v}) *one = Transpose(*one, 1, 2);
  }
  if (q_norm && config.qk_norm == QkNorm::kMovedHeads) {
    q = q_norm->Forward(q);
    k = k_norm->Forward(k);
  }
  if (before_turn) names.push_back(before_turn(q, k, rotary));
  if (config.turn != nullptr) {
    std::tie(q, k) = config.turn(q, k, rotary.first, rotary.second);
  }
  if (behind_turn) names.push_back(behind_turn(q, k, rotary));
  if (config.query_scale) {
    q = ScaleQueries(q, position_ids, *config.query_scale);
  }
  Tensor out =
      AttendOverCache(config, q, k, v, mask, attention, cached,
                      sinks ? module.builder().Read(*sinks) : Tensor());
  if (attn_sub_norm) out = attn_sub_norm->Forward(out);
  out = o_proj.Forward(out);
  return ApplyDropout(out, config.output_dropout);
}

Tensor AttendOverCache(const AttentionConfig& config, const Tensor& q,
                       Tensor& k, Tensor& v, const Tensor& mask,
                       std::string_view attention, CachedLayer* cached,
                       const Tensor& sinks) {
  if (cached != nullptr) {
    std::tie(k, v) = FillCache(*cached, k, v, config.window);
  }
  AttentionCall call;
  call.mask = mask;
  call.dropout = config.dropout;
  call.scale = config.scale.value_or(
      1 / std::sqrt(static_cast<double>(config.head_dim)));
  call.softcap = config.softcap;
  call.causal = config.causal;
  call.attention = attention;
  call.sinks = sinks;
  const Tensor out = Attend(q, k, v, call);
  return Reshape(out, {q.size(0), q.size(2), -1});
}

}  // namespace foretell
