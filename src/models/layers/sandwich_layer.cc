#include "models/layers/sandwich_layer.h"

#include <string_view>

#include "graph/ops/elementwise.h"

namespace foretell {
namespace {

RmsNorm Norm(const Module& at, std::string_view name, int64_t width,
             double epsilon) {
  return RmsNorm(at.Child(name, RegionKind::kNorm), width, epsilon,
                 RmsScale::kOnePlusWeight);
}

}  // namespace

SandwichLayer::SandwichLayer(const Module& at, const AttentionConfig& attention,
                             double norm_epsilon, int64_t intermediate,
                             Activation activation)
    : module(at),
      self_attn(at.Child("self_attn", RegionKind::kAttention), attention),
      mlp(at.Child("mlp", RegionKind::kMlp), attention.hidden, intermediate,
          false, activation),
      input_layernorm(
          Norm(at, "input_layernorm", attention.hidden, norm_epsilon)),
      post_attention_layernorm(
          Norm(at, "post_attention_layernorm", attention.hidden, norm_epsilon)),
      pre_feedforward_layernorm(Norm(at, "pre_feedforward_layernorm",
                                     attention.hidden, norm_epsilon)),
      post_feedforward_layernorm(Norm(at, "post_feedforward_layernorm",
                                      attention.hidden, norm_epsilon)) {}

Tensor SandwichLayer::Forward(const Tensor& input,
                              const DecoderContext& context) const {
  const Tensor& mask =
      self_attn.config.window > 0 ? context.window_mask : context.mask;
  const auto& rotary = context.RotaryOf(self_attn.config.window);
  const CheckpointScope checkpoint(
      module.builder(), {input},
      {mask, rotary.first, rotary.second, context.position_ids});
  const Scope scope = module.Enter();
  Tensor residual = input;
  Tensor hidden = input_layernorm.Forward(input);
  CachedLayer* cached = nullptr;
  if (context.fills_cache) cached = context.output->NextLayer();
  hidden = self_attn.Forward(hidden, rotary, mask, context.attention, cached);
  hidden = post_attention_layernorm.Forward(hidden);
  hidden = Add(residual, hidden);
  residual = hidden;
  hidden = pre_feedforward_layernorm.Forward(hidden);
  hidden = mlp.Forward(hidden);
  hidden = post_feedforward_layernorm.Forward(hidden);
  return Add(residual, hidden);
}

}  // namespace foretell
