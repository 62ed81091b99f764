// A decoder's layer behind norms, like Llama's, with an attention of its
// family's own.
//
// The attention has a `window` (0: none) and
//   Tensor Forward(const Tensor& hidden, const DecoderContext& context,
//                  CachedLayer* cached) const;
// Source: transformers 5.23, models/llama/modeling_llama.py
// (LlamaDecoderLayer), whose text many models share.
#ifndef FORETELL_MODELS_LAYERS_OWN_ATTENTION_LAYER_H_
#define FORETELL_MODELS_LAYERS_OWN_ATTENTION_LAYER_H_

#include <utility>

#include "graph/ops/elementwise.h"
#include "models/layers/decoder.h"
#include "models/layers/experts.h"
#include "models/layers/module.h"
#include "models/layers/norm.h"

namespace foretell {

template <class Attention, class Mlp>
struct OwnAttentionLayer {
  OwnAttentionLayer(const Module& at, Attention attention, Mlp feed_forward,
                    int64_t hidden, double norm_epsilon)
      : module(at),
        self_attn(std::move(attention)),
        mlp(std::move(feed_forward)),
        input_layernorm(at.Child("input_layernorm", RegionKind::kNorm), hidden,
                        norm_epsilon),
        post_attention_layernorm(
            at.Child("post_attention_layernorm", RegionKind::kNorm), hidden,
            norm_epsilon) {}

  Tensor Forward(const Tensor& input, const DecoderContext& context) const {
    const Tensor& mask =
        self_attn.window > 0 ? context.window_mask : context.mask;
    const auto& rotary = context.RotaryOf(self_attn.window);
    const CheckpointScope checkpoint(
        module.builder(), {input},
        {mask, rotary.first, rotary.second, context.position_ids});
    const Scope scope = module.Enter();
    Tensor residual = input;
    Tensor hidden = input_layernorm.Forward(input);
    CachedLayer* cached = nullptr;
    if (context.fills_cache) cached = context.output->NextLayer();
    hidden = self_attn.Forward(hidden, context, cached);
    hidden = Add(residual, hidden);
    residual = hidden;
    hidden = post_attention_layernorm.Forward(hidden);
    hidden =
        mlp.Forward(hidden, {context.experts, &context.output->router_logits});
    return Add(residual, hidden);
  }

  Module module;
  Attention self_attn;
  Mlp mlp;
  RmsNorm input_layernorm;
  RmsNorm post_attention_layernorm;
};

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_OWN_ATTENTION_LAYER_H_
