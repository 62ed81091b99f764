#include "models/layers/hybrid_attention.h"

#include <cmath>
#include <tuple>

#include "graph/ops/elementwise.h"
#include "graph/ops/views.h"
#include "models/layers/rope.h"

namespace foretell {

HybridAttention::HybridAttention(const Module& at,
                                 const HybridAttentionConfig& settings)
    : module(at),
      config(settings),
      q_proj(at.Child("q_proj", RegionKind::kLinear), config.heads.hidden,
             config.heads.heads * config.heads.head_dim, config.heads.qkv_bias),
      k_proj(at.Child("k_proj", RegionKind::kLinear), config.heads.hidden,
             config.heads.kv_heads * config.heads.head_dim,
             config.heads.qkv_bias),
      v_proj(at.Child("v_proj", RegionKind::kLinear), config.heads.hidden,
             config.heads.kv_heads * config.heads.head_dim,
             config.heads.qkv_bias),
      o_proj(at.Child("o_proj", RegionKind::kLinear),
             config.heads.heads * config.heads.head_dim, config.heads.hidden,
             config.heads.output_bias) {}

Tensor HybridAttention::Forward(Tensor hidden,
                                const std::pair<Tensor, Tensor>& rotary,
                                const Tensor& mask, std::string_view attention,
                                CachedLayer* cached) const {
  const Scope scope = module.Enter();
  const int64_t batch = hidden.size(0);
  const int64_t length = hidden.size(1);
  const Shape by_head = {batch, length, -1, config.heads.head_dim};
  const auto project = [&](const Linear& linear) {
    return Transpose(View(linear.Forward(hidden), by_head), 1, 2);
  };
  Tensor q = project(q_proj);
  Tensor k = config.key_multiplier
                 ? MulScalar(project(k_proj), *config.key_multiplier)
                 : project(k_proj);
  Tensor v = project(v_proj);
  if (!rotary.first.empty()) {
    const auto turn = config.turns_part ? ApplyPartialRotary : ApplyRotary;
    std::tie(q, k) = turn(q, k, rotary.first, rotary.second);
  }
  if (cached != nullptr) std::tie(k, v) = FillCache(*cached, k, v, 0);
  AttentionCall call;
  call.mask = mask;
  call.dropout = config.heads.dropout;
  call.scale = config.heads.scale.value_or(
      1 / std::sqrt(static_cast<double>(config.heads.head_dim)));
  call.attention = attention;
  call.returning_levels = config.returning_levels;
  const Tensor out = Attend(q, k, v, call);
  return o_proj.Forward(Reshape(out, {batch, length, -1}));
}

}  // namespace foretell
