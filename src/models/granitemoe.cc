// GraniteMoe: Llama's attention and a feed-forward of experts, whose results,
// like embeddings and logits, are scaled by numbers of the configuration.
//
// Source: transformers 5.23, models/granitemoe/modeling_granitemoe.py and
// configuration_granitemoe.py.
#include <array>

#include "models/family.h"
#include "models/layers/check_fields.h"
#include "models/layers/decoder.h"
#include "models/layers/experts.h"
#include "models/layers/read_decoder.h"
#include "models/layers/read_experts.h"
#include "models/layers/scaled_layer.h"

namespace foretell {
namespace {

AttentionConfig ReadAttention(const ConfigView& config) {
  AttentionConfig attention = ReadHeads(config, {.dropout_may_be_null = true});
  attention.kv_heads =
      SizeOrDerived(config, "num_key_value_heads", attention.heads);
  CheckKeyValueHeads(config, attention);
  attention.head_dim = UndeclaredHeadDim(config, attention);
  attention.qkv_bias = config.Flag({"attention_bias"}, false);
  attention.output_bias = attention.qkv_bias;
  attention.scale = config.Real({"attention_multiplier"}, 1);
  return attention;
}

ExpertsConfig ReadExperts(const ConfigView& config, const DecoderKeys& keys) {
  ExpertsConfig experts;
  experts.hidden = keys.decoder.hidden;
  experts.intermediate = keys.intermediate;
  experts.activation = keys.activation;
  experts.experts = config.SizeOrZero({"num_local_experts"}, 8);
  experts.per_token = config.SizeOrZero({"num_experts_per_tok"}, 2);
  experts.softmax_of_chosen = true;
  experts.router_name = "router";
  CheckExpertsPerToken(config, experts);
  experts.keeps_logits = ReadKeepsLogits(config);
  return experts;
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  ScaledLayerConfig layer;
  layer.attention = ReadAttention(config);
  const AttentionConfig& attention = layer.attention;
  DecoderKeys keys = ReadDecoder(config, class_name, attention.hidden, {});
  DecoderConfig& decoder = keys.decoder;
  decoder.rope =
      ReadRope(config, {.positions = keys.positions,
                        .head_dim = attention.head_dim,
                        .head_dim_is_held = config.Raw("head_dim") != nullptr});
  decoder.embedding_multiplier = config.Real({"embedding_multiplier"}, 1);
  decoder.head.logit_divisor = config.Real({"logits_scaling"}, 1);
  // Its language model hands no `use_cache` on: the configuration's holds.
  if (decoder.head.kind == Head::kCausalLm) {
    decoder.fills_cache = config.Flag({"use_cache"}, true);
  }
  layer.norm_epsilon = decoder.norm_epsilon;
  layer.residual_multiplier = config.Real({"residual_multiplier"}, 1);
  layer.mlp_name = "block_sparse_moe";
  layer.mlp_is_last = true;
  const ExpertsConfig experts = ReadExperts(config, keys);
  // Mixtral's and Llama's; the class has no such attributes.
  config.Ignore({"mlp_bias", "router_jitter_noise"});

  using Layer = ScaledLayer<SparseMlp>;
  auto model = std::make_unique<Decoder<Layer>>(
      root, decoder, [&](const Module& at, int64_t) {
        return Layer(at, layer, [&](const Module& mlp) {
          return SparseMlp(mlp, experts);
        });
      });
  if (experts.keeps_logits && decoder.head.kind == Head::kCausalLm) {
    model->FinishWith(BalancedLoss(experts));
  }
  model->states.assign(static_cast<size_t>(decoder.layers),
                       StateOf(attention, 0));
  model->context_length = RopeContext(decoder.rope);
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"granitemoe"};
constexpr std::array<std::string_view, 2> kClasses = {"GraniteMoeForCausalLM",
                                                      "GraniteMoeModel"};

}  // namespace

extern const Family kGraniteMoeFamily = {
    .name = "granitemoe",
    .title = "GraniteMoe",
    .doc =
        "Llama's attention with a feed-forward of experts; embeddings, "
        "residuals, scores and logits are scaled.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
