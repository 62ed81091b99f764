// A decoder's layer of latent attention and a feed-forward of experts, or a
// dense one, each behind a norm and added to its input.
//
// Layers with an indexer hand its choice to those after them that have none.
// Source: transformers 5.23, models/deepseek_v3/modeling_deepseek_v3.py
// (DeepseekV3DecoderLayer), models/glm_moe_dsa/modeling_glm_moe_dsa.py.
#ifndef FORETELL_MODELS_LAYERS_LATENT_LAYER_H_
#define FORETELL_MODELS_LAYERS_LATENT_LAYER_H_

#include "graph/ops/elementwise.h"
#include "models/layers/decoder.h"
#include "models/layers/group_router.h"
#include "models/layers/latent_attention.h"
#include "models/layers/norm.h"

namespace foretell {

template <class Router = GroupRouter>
struct LatentLayer {
  LatentLayer(const Module& at, const LatentConfig& attention,
              double norm_epsilon, bool has_experts,
              const SharedExpertsKeys& experts, int64_t dense_intermediate,
              bool shares_chosen = false)
      : module(at),
        hands_on(shares_chosen),
        self_attn(at.Child("self_attn", RegionKind::kAttention), attention),
        mlp(at.Child("mlp", RegionKind::kMlp), has_experts, experts,
            dense_intermediate),
        input_layernorm(at.Child("input_layernorm", RegionKind::kNorm),
                        attention.hidden, norm_epsilon),
        post_attention_layernorm(
            at.Child("post_attention_layernorm", RegionKind::kNorm),
            attention.hidden, norm_epsilon) {}

  Tensor Forward(const Tensor& input, const DecoderContext& context) const {
    Tensor chosen = hands_on ? context.chosen_keys : Tensor();
    const CheckpointScope checkpoint(
        module.builder(), {input},
        {context.mask, context.rotary.first, context.rotary.second,
         context.position_ids, chosen});
    const Scope scope = module.Enter();
    Tensor residual = input;
    Tensor hidden = input_layernorm.Forward(input);
    CachedLayer* cached = nullptr;
    if (context.fills_cache) cached = context.output->NextLayer();
    hidden = self_attn.Forward(hidden, context.rotary, context.mask,
                               context.attention, cached,
                               hands_on ? &chosen : nullptr);
    hidden = Add(residual, hidden);
    residual = hidden;
    hidden = post_attention_layernorm.Forward(hidden);
    hidden =
        mlp.Forward(hidden, {context.experts, &context.output->router_logits});
    hidden = Add(residual, hidden);
    if (hands_on) context.chosen_keys = chosen;
    return hidden;
  }

  Module module;
  bool hands_on;
  LatentAttention self_attn;
  SharedOrDenseMlp<Router> mlp;
  RmsNorm input_layernorm;
  RmsNorm post_attention_layernorm;
};

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_LATENT_LAYER_H_
