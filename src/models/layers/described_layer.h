// A decoder's layer under the names of a class that the library lacks: what
// published descriptions of such classes have in common.
//
// Queries, keys and values come from three products or from one, whose parts
// lie one after another, or group by group of heads (InternLM 2); gate and up
// from two products or from one.
// Source: the models' own published descriptions and configurations, as each
// family names them; none is recorded against PyTorch.
#ifndef FORETELL_MODELS_LAYERS_DESCRIBED_LAYER_H_
#define FORETELL_MODELS_LAYERS_DESCRIBED_LAYER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/ops/elementwise.h"
#include "models/layers/activation.h"
#include "models/layers/attention.h"
#include "models/layers/decoder.h"
#include "models/layers/linear.h"
#include "models/layers/module.h"
#include "models/layers/norm.h"

namespace foretell {

struct DescribedNames {
  std::string_view attention = "self_attn";
  std::string_view qkv = "";  // of one product for all three; empty: three
  std::string_view output = "o_proj";
  std::string_view mlp = "mlp";
  std::string_view gate = "gate_proj";  // empty: up makes both
  std::string_view up = "up_proj";
  std::string_view down = "down_proj";
  std::string_view input_norm = "input_layernorm";
  std::string_view mlp_norm = "post_attention_layernorm";
};

struct DescribedConfig {
  DescribedNames names;
  AttentionConfig attention;
  bool groups_heads = false;  // a key head's queries, its key and value: a row
  int64_t intermediate = 0;
  bool mlp_bias = false;
  Activation activation = Activation::kSilu;
  double norm_epsilon = 0;
  double residual_multiplier = 1;
  std::string fails;  // why its forward is not modelled; empty where it is
};

struct DescribedAttention {
  DescribedAttention(const Module& at, const DescribedConfig& config);
  Tensor Forward(const Tensor& hidden, const DecoderContext& context,
                 CachedLayer* cached) const;

  // q, k and v of one product, [b, h, s, d] each.
  std::vector<Tensor> Parts(const Tensor& hidden) const;

  Module module;
  DescribedConfig config;
  std::optional<GroupedQueryAttention> split;  // where there are three products
  std::optional<Linear> qkv;
  std::optional<Linear> output;
};

struct DescribedMlp {
  DescribedMlp(const Module& at, const DescribedConfig& config);
  Tensor Forward(const Tensor& hidden) const;

  Module module;
  DescribedConfig config;
  std::optional<Linear> gate;
  Linear up;
  Linear down;
};

template <class Norm = RmsNorm, class Mlp = DescribedMlp>
struct DescribedLayer {
  DescribedLayer(const Module& at, const DescribedConfig& settings)
      : module(at),
        config(settings),
        attention(at.Child(config.names.attention, RegionKind::kAttention),
                  config),
        mlp(at.Child(config.names.mlp, RegionKind::kMlp), config),
        input_norm(at.Child(config.names.input_norm, RegionKind::kNorm),
                   config.attention.hidden, config.norm_epsilon),
        mlp_norm(at.Child(config.names.mlp_norm, RegionKind::kNorm),
                 config.attention.hidden, config.norm_epsilon) {}

  Tensor Forward(const Tensor& input, const DecoderContext& context) const {
    const CheckpointScope checkpoint(
        module.builder(), {input},
        {context.mask, context.rotary.first, context.rotary.second,
         context.position_ids});
    const Scope scope = module.Enter();
    if (!config.fails.empty()) module.builder().Fail(config.fails);
    Tensor residual = input;
    Tensor hidden = input_norm.Forward(input);
    CachedLayer* cached = nullptr;
    if (context.fills_cache) cached = context.output->NextLayer();
    hidden = attention.Forward(hidden, context, cached);
    hidden = Add(residual, Scaled(hidden));
    residual = hidden;
    hidden = mlp_norm.Forward(hidden);
    hidden = mlp.Forward(hidden);
    return Add(residual, Scaled(hidden));
  }

  Tensor Scaled(const Tensor& x) const {
    return config.residual_multiplier == 1
               ? x
               : MulScalar(x, config.residual_multiplier);
  }

  Module module;
  DescribedConfig config;
  DescribedAttention attention;
  Mlp mlp;
  Norm input_norm;
  Norm mlp_norm;
};

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_DESCRIBED_LAYER_H_
