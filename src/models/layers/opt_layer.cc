#include "models/layers/opt_layer.h"

#include <cmath>
#include <tuple>
#include <utility>

#include "graph/ops/elementwise.h"
#include "graph/ops/views.h"
#include "models/layers/attention.h"

namespace foretell {
namespace {

Linear Projection(const Module& at, std::string_view name,
                  const OptLayerConfig& config) {
  return Linear(at.Child(name, RegionKind::kLinear), config.heads.hidden,
                config.heads.hidden, config.bias);
}

}  // namespace

LayerNorm OptNorm(const Module& at, std::string_view name,
                  const OptLayerConfig& config) {
  constexpr double kEpsilon = 1e-5;  // torch's own
  return LayerNorm(at.Child(name, RegionKind::kNorm), config.heads.hidden,
                   kEpsilon, config.norm_terms);
}

OptAttention::OptAttention(const Module& at, const OptLayerConfig& config)
    : module(at),
      heads(config.heads),
      dropout(config.attention_dropout),
      k_proj(Projection(at, "k_proj", config)),
      v_proj(Projection(at, "v_proj", config)),
      q_proj(Projection(at, "q_proj", config)),
      out_proj(Projection(at, "out_proj", config)) {}

Tensor OptAttention::Forward(const Tensor& hidden, const Tensor& mask,
                             std::string_view attention,
                             CachedLayer* cached) const {
  const Scope scope = module.Enter();
  const int64_t batch = hidden.size(0);
  const int64_t length = hidden.size(1);
  const Shape shape = {batch, -1, heads.heads, heads.head_dim};
  const auto split = [&](const Tensor& x) {
    return Transpose(View(x, shape), 1, 2);
  };
  Tensor q = MulScalar(q_proj.Forward(hidden),
                       1 / std::sqrt(static_cast<double>(heads.head_dim)));
  q = split(q);
  Tensor k = k_proj.Forward(hidden);
  Tensor v = v_proj.Forward(hidden);
  k = split(k);
  v = split(v);
  if (cached != nullptr) std::tie(k, v) = FillCache(*cached, k, v, 0);
  AttentionCall call;
  call.mask = mask;
  call.dropout = dropout;
  call.attention = attention;
  Tensor out = Attend(q, k, v, call);
  out = Reshape(out, {batch, length, -1});
  return out_proj.Forward(out);
}

OptLayer::OptLayer(const Module& at, const OptLayerConfig& config)
    : module(at),
      norms_before(config.norms_before),
      dropout(config.dropout),
      self_attn(at.Child("self_attn", RegionKind::kAttention), config),
      activation_fn(at.Child("activation_fn"), config.activation),
      self_attn_layer_norm(OptNorm(at, "self_attn_layer_norm", config)),
      fc1(at.Child("fc1", RegionKind::kLinear), config.heads.hidden,
          config.inner, config.bias),
      fc2(at.Child("fc2", RegionKind::kLinear), config.inner,
          config.heads.hidden, config.bias),
      final_layer_norm(OptNorm(at, "final_layer_norm", config)) {}

Tensor OptLayer::Forward(const Tensor& input, const Tensor& mask,
                         const Tensor& position_ids, std::string_view attention,
                         CachedLayer* cached) const {
  const CheckpointScope checkpoint(module.builder(), {input},
                                   {mask, position_ids});
  const Scope scope = module.Enter();
  Tensor residual = input;
  Tensor hidden = input;
  if (norms_before) hidden = self_attn_layer_norm.Forward(hidden);
  hidden = self_attn.Forward(hidden, mask, attention, cached);
  hidden = ApplyDropout(hidden, dropout);
  hidden = Add(residual, hidden);
  if (!norms_before) hidden = self_attn_layer_norm.Forward(hidden);
  const Shape shape = hidden.shape();
  hidden = Reshape(hidden, {-1, hidden.size(-1)});
  residual = hidden;
  if (norms_before) hidden = final_layer_norm.Forward(hidden);
  hidden = fc1.Forward(hidden);
  hidden = activation_fn.Forward(hidden);
  hidden = fc2.Forward(hidden);
  hidden = ApplyDropout(hidden, dropout);
  hidden = View(Add(residual, hidden), shape);
  if (!norms_before) hidden = final_layer_norm.Forward(hidden);
  return hidden;
}

}  // namespace foretell
