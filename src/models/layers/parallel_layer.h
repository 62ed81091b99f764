// Attention and a gated feed-forward side by side behind one norm, both added
// to the layer's input.
//
// Source: transformers 5.23, models/cohere/modeling_cohere.py
// (CohereDecoderLayer), which Cohere 2 shares.
#ifndef FORETELL_MODELS_LAYERS_PARALLEL_LAYER_H_
#define FORETELL_MODELS_LAYERS_PARALLEL_LAYER_H_

#include "graph/ops/elementwise.h"
#include "models/layers/attention.h"
#include "models/layers/decoder.h"
#include "models/layers/mlp.h"
#include "models/layers/norm.h"
#include "models/layers/read_decoder.h"

namespace foretell {

struct ParallelLayer {
  ParallelLayer(const Module& at, const AttentionConfig& attention,
                const DecoderKeys& keys)
      : module(at),
        self_attn(at.Child("self_attn", RegionKind::kAttention), attention),
        mlp(at.Child("mlp", RegionKind::kMlp), attention.hidden,
            keys.intermediate, false, keys.activation),
        input_layernorm(at.Child("input_layernorm", RegionKind::kNorm),
                        attention.hidden, keys.decoder.norm_epsilon) {}

  Tensor Forward(const Tensor& input, const DecoderContext& context) const {
    const Tensor& mask =
        self_attn.config.window > 0 ? context.window_mask : context.mask;
    const CheckpointScope checkpoint(
        module.builder(), {input},
        {mask, context.rotary.first, context.rotary.second,
         context.position_ids});
    const Scope scope = module.Enter();
    Tensor hidden = input_layernorm.Forward(input);
    CachedLayer* cached = nullptr;
    if (context.fills_cache) cached = context.output->NextLayer();
    const Tensor attended = self_attn.Forward(hidden, context.rotary, mask,
                                              context.attention, cached);
    const Tensor forwarded = mlp.Forward(hidden);
    hidden = Add(Add(input, attended), forwarded);
    return hidden;
  }

  Module module;
  GroupedQueryAttention self_attn;
  GatedMlp mlp;
  CenteredNorm input_layernorm;
};

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_PARALLEL_LAYER_H_
