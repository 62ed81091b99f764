#include "models/layers/recurrent_gemma_block.h"

#include <tuple>

#include "graph/ops/elementwise.h"
#include "graph/ops/views.h"
#include "models/layers/split_rotary.h"

namespace foretell {

LocalAttention::LocalAttention(const Module& at,
                               const RecurrentGemmaConfig& settings)
    : module(at),
      config(settings.attention),
      q_proj(at.Child("q_proj", RegionKind::kLinear), config.hidden,
             config.heads * config.head_dim, config.qkv_bias),
      k_proj(at.Child("k_proj", RegionKind::kLinear), config.hidden,
             config.kv_heads * config.head_dim, config.qkv_bias),
      v_proj(at.Child("v_proj", RegionKind::kLinear), config.hidden,
             config.kv_heads * config.head_dim, config.qkv_bias),
      o_proj(at.Child("o_proj", RegionKind::kLinear),
             config.heads * config.head_dim, config.hidden, true),
      rotary_emb(at.Child("rotary_emb"), settings.keys.decoder.rope) {}

Tensor LocalAttention::Forward(const Tensor& hidden,
                               const RecurrentGemmaCall& call,
                               CachedLayer* cached) const {
  const Scope scope = module.Enter();
  const Shape heads = {hidden.size(0), hidden.size(1), -1, config.head_dim};
  const auto project = [&](const Linear& linear) {
    return Transpose(View(linear.Forward(hidden), heads), 1, 2);
  };
  Tensor q = project(q_proj);
  Tensor k = project(k_proj);
  Tensor v = project(v_proj);
  const auto [cosines, sines] = rotary_emb.Forward(v, call.position_ids);
  std::tie(q, k) = ApplySplitRotary(q, k, cosines, sines);
  Tensor out =
      AttendOverCache(config, q, k, v, call.mask, call.attention, cached);
  out = o_proj.Forward(out);
  return out;
}

RmsNorm RecurrentGemmaBlock::Norm(const Module& at, std::string_view name,
                                  const RecurrentGemmaConfig& settings) {
  return RmsNorm(at.Child(name, RegionKind::kNorm), settings.attention.hidden,
                 settings.keys.decoder.norm_epsilon, RmsScale::kOnePlusWeight);
}

RecurrentGemmaBlock::RecurrentGemmaBlock(const Module& at,
                                         const RecurrentGemmaConfig& settings,
                                         bool attends)
    : module(at), temporal_pre_norm(Norm(at, "temporal_pre_norm", settings)) {
  const Module temporal = at.Child(
      "temporal_block", attends ? RegionKind::kAttention : RegionKind::kMixer);
  if (attends) {
    attention.emplace(temporal, settings);
  } else {
    recurrent.emplace(temporal, settings.recurrent);
  }
  channel_pre_norm.emplace(Norm(at, "channel_pre_norm", settings));
  mlp_block.emplace(at.Child("mlp_block", RegionKind::kMlp),
                    settings.attention.hidden, settings.keys.intermediate, true,
                    settings.keys.activation);
}

Tensor RecurrentGemmaBlock::Forward(const Tensor& input,
                                    const RecurrentGemmaCall& call,
                                    CachedLayer& cached,
                                    RecurrentCache& state) const {
  const CheckpointScope checkpoint(module.builder(),
                                   {input, call.position_ids, call.mask});
  const Scope scope = module.Enter();
  const Tensor normed = temporal_pre_norm.Forward(input);
  Tensor hidden =
      attention
          ? attention->Forward(normed, call, call.keeps ? &cached : nullptr)
          : recurrent->Forward(normed, call.position_ids, call.keeps, state);
  const Tensor residual = Add(hidden, input);
  hidden = channel_pre_norm->Forward(residual);
  hidden = mlp_block->Forward(hidden);
  hidden = Add(hidden, residual);
  return hidden;
}

}  // namespace foretell
