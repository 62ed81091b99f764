// A decoder's layer behind norms, like Llama's, which multiplies what attention
// and the feed-forward give before it adds them: Granite's.
//
// Source: transformers 5.23, models/granitemoe/modeling_granitemoe.py
// (GraniteMoeDecoderLayer), models/granite/modeling_granite.py.
#ifndef FORETELL_MODELS_LAYERS_SCALED_LAYER_H_
#define FORETELL_MODELS_LAYERS_SCALED_LAYER_H_

#include <optional>
#include <string_view>

#include "graph/ops/elementwise.h"
#include "models/layers/attention.h"
#include "models/layers/decoder.h"
#include "models/layers/experts.h"
#include "models/layers/module.h"
#include "models/layers/norm.h"

namespace foretell {

// How Granite's files scale what others leave as it is.
struct ScaledLayerConfig {
  AttentionConfig attention;
  double norm_epsilon = 0;
  double residual_multiplier = 1;
  std::string_view mlp_name = "mlp";
  bool mlp_is_last = false;  // its names come behind the norms'
};

template <class Mlp>
struct ScaledLayer {
  template <class MakeMlp>
  ScaledLayer(const Module& at, const ScaledLayerConfig& settings,
              MakeMlp make_mlp)
      : module(at),
        config(settings),
        self_attn(at.Child("self_attn", RegionKind::kAttention),
                  config.attention) {
    const auto make = [&] {
      mlp.emplace(make_mlp(at.Child(config.mlp_name, RegionKind::kMlp)));
    };
    if (!config.mlp_is_last) make();
    const auto norm = [&](std::string_view name) {
      return RmsNorm(at.Child(name, RegionKind::kNorm), config.attention.hidden,
                     config.norm_epsilon);
    };
    input_layernorm.emplace(norm("input_layernorm"));
    post_attention_layernorm.emplace(norm("post_attention_layernorm"));
    if (config.mlp_is_last) make();
  }

  Tensor Forward(const Tensor& input, const DecoderContext& context) const {
    const CheckpointScope checkpoint(
        module.builder(), {input},
        {context.mask, context.rotary.first, context.rotary.second,
         context.position_ids});
    const Scope scope = module.Enter();
    Tensor residual = input;
    Tensor hidden = input_layernorm->Forward(input);
    CachedLayer* cached = nullptr;
    if (context.fills_cache) cached = context.output->NextLayer();
    hidden = self_attn.Forward(hidden, context.rotary, context.mask,
                               context.attention, cached);
    hidden = Add(residual, MulScalar(hidden, config.residual_multiplier));
    residual = hidden;
    hidden = post_attention_layernorm->Forward(hidden);
    const ExpertsCall call = {context.experts, &context.output->router_logits};
    if constexpr (requires { mlp->Forward(hidden, call); }) {
      hidden = mlp->Forward(hidden, call);
    } else {
      hidden = mlp->Forward(hidden);
    }
    return Add(residual, MulScalar(hidden, config.residual_multiplier));
  }

  Module module;
  ScaledLayerConfig config;
  GroupedQueryAttention self_attn;
  std::optional<Mlp> mlp;
  std::optional<RmsNorm> input_layernorm;
  std::optional<RmsNorm> post_attention_layernorm;
};

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_SCALED_LAYER_H_
