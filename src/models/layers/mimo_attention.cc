#include "models/layers/mimo_attention.h"

#include <cmath>
#include <tuple>
#include <utility>

#include "graph/ops/elementwise.h"
#include "graph/ops/reduction.h"
#include "graph/ops/sorting.h"
#include "graph/ops/views.h"
#include "models/layers/dropout.h"
#include "models/layers/functional.h"
#include "models/layers/split_rotary.h"

namespace foretell {
namespace {

// repeat_kv: each head of keys serves `repeats` heads of queries.
Tensor RepeatHeads(const Tensor& x, int64_t repeats) {
  if (repeats == 1) return x;
  const Tensor spread = Expand(
      Unsqueeze(x, 2), {x.size(0), x.size(1), repeats, x.size(2), x.size(3)});
  return Reshape(spread,
                 {x.size(0), x.size(1) * repeats, x.size(2), x.size(3)});
}

Tensor AttendBesideSinks(const Tensor& q, const Tensor& k, const Tensor& v,
                         const Tensor& mask, const Tensor& sinks,
                         const AttentionConfig& config) {
  const int64_t groups = k.size(1) > 0 ? q.size(1) / k.size(1) : 1;
  const Tensor keys = RepeatHeads(k, groups);
  const Tensor values = RepeatHeads(v, groups);
  const double scale = 1 / std::sqrt(static_cast<double>(config.head_dim));
  Tensor weights = MulScalar(Matmul(q, Transpose(keys, 2, 3)), scale);
  if (!mask.empty()) weights = Add(weights, mask);
  Tensor spread;
  if (!sinks.empty()) {
    spread =
        Expand(Reshape(sinks, {1, -1, 1, 1}), {q.size(0), -1, q.size(2), -1});
    weights = Cat2(weights, spread, -1);
  }
  const auto shifted = [&] {
    const Tensor most = MaxLast(weights).first;
    return Sub(weights, most);
  };
  weights = shifted();
  Tensor shares = SoftmaxAsIs(weights, -1);
  if (!sinks.empty()) shares = Slice(shares, 3, 0, -1);
  weights = To(ApplyDropout(shares, config.dropout), values.dtype());
  q.builder().ReturnBeside(weights);
  const Tensor out = Matmul(weights, values);
  return Contiguous(Transpose(out, 1, 2));
}

}  // namespace

MimoAttention::MimoAttention(const Module& at,
                             const MimoAttentionConfig& settings)
    : module(at),
      config(settings),
      window(config.heads.window),
      sinks(config.heads.has_sinks
                ? std::optional(at.Parameter("sinks", {config.heads.heads}))
                : std::nullopt),
      q_proj(at.Child("q_proj", RegionKind::kLinear), config.heads.hidden,
             config.heads.heads * config.heads.head_dim, config.heads.qkv_bias),
      k_proj(at.Child("k_proj", RegionKind::kLinear), config.heads.hidden,
             config.heads.kv_heads * config.heads.head_dim,
             config.heads.qkv_bias),
      v_proj(at.Child("v_proj", RegionKind::kLinear), config.heads.hidden,
             config.heads.kv_heads * config.value_dim, config.heads.qkv_bias),
      o_proj(at.Child("o_proj", RegionKind::kLinear),
             config.heads.heads * config.value_dim, config.heads.hidden,
             false) {}

Tensor MimoAttention::Forward(const Tensor& hidden,
                              const DecoderContext& context,
                              CachedLayer* cached) const {
  const Scope scope = module.Enter();
  const int64_t batch = hidden.size(0);
  const int64_t length = hidden.size(1);
  const auto heads = [&](const Linear& linear, int64_t dim) {
    return Transpose(View(linear.Forward(hidden), {batch, length, -1, dim}), 1,
                     2);
  };
  Tensor q = heads(q_proj, config.heads.head_dim);
  Tensor k = heads(k_proj, config.heads.head_dim);
  Tensor v = MulScalar(heads(v_proj, config.value_dim), config.value_scale);
  const auto& rotary = context.RotaryOf(window);
  std::tie(q, k) = ApplySplitRotary(q, k, rotary.first, rotary.second);
  if (cached != nullptr) std::tie(k, v) = FillCache(*cached, k, v, window);
  const Tensor& mask = window > 0 ? context.window_mask : context.mask;
  const Tensor out = AttendBesideSinks(
      q, k, v, mask, sinks ? module.builder().Read(*sinks) : Tensor(),
      config.heads);
  return o_proj.Forward(Reshape(out, {batch, length, -1}));
}

}  // namespace foretell
