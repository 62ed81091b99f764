#include "models/layers/post_norm_layer.h"

#include <utility>

#include "graph/ops/elementwise.h"

namespace foretell {

PostNormLayer::PostNormLayer(const Module& at, const AttentionConfig& attention,
                             double norm_epsilon, RmsScale norm_scale,
                             int64_t intermediate, Activation activation)
    : module(at),
      self_attn(at.Child("self_attn", RegionKind::kAttention), attention),
      mlp(at.Child("mlp", RegionKind::kMlp), attention.hidden, intermediate,
          false, activation),
      post_attention_layernorm(
          at.Child("post_attention_layernorm", RegionKind::kNorm),
          attention.hidden, norm_epsilon, norm_scale),
      post_feedforward_layernorm(
          at.Child("post_feedforward_layernorm", RegionKind::kNorm),
          attention.hidden, norm_epsilon, norm_scale) {}

Tensor PostNormLayer::Forward(const Tensor& input,
                              const DecoderContext& context) const {
  const Tensor& mask =
      self_attn.config.window > 0 ? context.window_mask : context.mask;
  const auto& rotary = context.RotaryOf(self_attn.config.window);
  const CheckpointScope checkpoint(
      module.builder(), {input},
      {mask, rotary.first, rotary.second, context.position_ids});
  const Scope scope = module.Enter();
  Tensor residual = input;
  CachedLayer* cached = nullptr;
  if (context.fills_cache) cached = context.output->NextLayer();
  Tensor hidden = self_attn.Forward(input, rotary, mask, context.attention,
                                    cached, context.position_ids);
  hidden = post_attention_layernorm.Forward(hidden);
  hidden = Add(residual, hidden);
  residual = hidden;
  hidden = mlp.Forward(hidden);
  hidden = post_feedforward_layernorm.Forward(hidden);
  return Add(residual, hidden);
}

}  // namespace foretell
