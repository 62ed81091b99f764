#include "models/layers/laguna_attention.h"

#include <tuple>
#include <utility>

#include "graph/ops/activations.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/views.h"
#include "models/layers/split_rotary.h"

namespace foretell {

LagunaAttention::LagunaAttention(const Module& at,
                                 const AttentionConfig& settings,
                                 bool gates_by_head)
    : module(at),
      config(settings),
      window(config.window),
      by_head(gates_by_head),
      q_proj(at.Child("q_proj", RegionKind::kLinear), config.hidden,
             config.heads * config.head_dim, config.qkv_bias),
      k_proj(at.Child("k_proj", RegionKind::kLinear), config.hidden,
             config.kv_heads * config.head_dim, config.qkv_bias),
      v_proj(at.Child("v_proj", RegionKind::kLinear), config.hidden,
             config.kv_heads * config.head_dim, config.qkv_bias),
      o_proj(at.Child("o_proj", RegionKind::kLinear),
             config.heads * config.head_dim, config.hidden, config.output_bias),
      q_norm(at.Child("q_norm", RegionKind::kNorm), config.head_dim,
             config.qk_norm_epsilon.value_or(0)),
      k_norm(at.Child("k_norm", RegionKind::kNorm), config.head_dim,
             config.qk_norm_epsilon.value_or(0)),
      g_proj(at.Child("g_proj", RegionKind::kLinear), config.hidden,
             by_head ? config.heads : config.heads * config.head_dim, false) {}

Tensor LagunaAttention::Forward(const Tensor& hidden,
                                const DecoderContext& context,
                                CachedLayer* cached) const {
  const Scope scope = module.Enter();
  const Shape heads = {hidden.size(0), hidden.size(1), -1, config.head_dim};
  Tensor q = View(q_proj.Forward(hidden), heads);
  Tensor k = View(k_proj.Forward(hidden), heads);
  Tensor v = View(v_proj.Forward(hidden), heads);
  q = Transpose(q_norm.Forward(q), 1, 2);
  k = Transpose(k_norm.Forward(k), 1, 2);
  v = Transpose(v, 1, 2);
  const auto& rotary = context.RotaryOf(window);
  std::tie(q, k) = ApplySplitRotary(q, k, rotary.first, rotary.second);
  Tensor out = AttendOverCache(config, q, k, v,
                               window > 0 ? context.window_mask : context.mask,
                               context.attention, cached);
  const auto open = [&] {
    const Tensor wide = To(g_proj.Forward(hidden), DType::kFloat32);
    return To(Softplus(wide), out.dtype());
  };
  const Tensor gate = open();
  if (by_head) {
    const auto gated = [&] {
      return Mul(View(out, heads), Unsqueeze(gate, -1));
    };
    out = View(gated(), {hidden.size(0), hidden.size(1), -1});
  } else {
    out = Mul(std::move(out), gate);
  }
  return o_proj.Forward(out);
}

}  // namespace foretell
