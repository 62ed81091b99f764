// Granite: Llama's layer with embeddings, branches, scores and logits scaled by
// numbers of the configuration.
//
// Source: transformers 5.23, models/granite/modeling_granite.py and
// configuration_granite.py.
#include <array>

#include "models/family.h"
#include "models/layers/check_fields.h"
#include "models/layers/decoder.h"
#include "models/layers/mlp.h"
#include "models/layers/read_decoder.h"
#include "models/layers/scaled_layer.h"

namespace foretell {
namespace {

AttentionConfig ReadGraniteAttention(const ConfigView& config) {
  AttentionConfig attention = ReadHeads(config);
  attention.kv_heads =
      SizeOrDerived(config, "num_key_value_heads", attention.heads);
  CheckKeyValueHeads(config, attention);
  attention.head_dim = UndeclaredHeadDim(config, attention);
  attention.qkv_bias = config.Flag({"attention_bias"}, false);
  attention.output_bias = attention.qkv_bias;
  attention.scale = config.Real({"attention_multiplier"}, 1);
  return attention;
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  ScaledLayerConfig layer;
  layer.attention = ReadGraniteAttention(config);
  const AttentionConfig& attention = layer.attention;
  DecoderKeys keys = ReadDecoder(config, class_name, attention.hidden, {});
  DecoderConfig& decoder = keys.decoder;
  decoder.rope =
      ReadRope(config, {.positions = keys.positions,
                        .head_dim = attention.head_dim,
                        .head_dim_is_held = config.Raw("head_dim") != nullptr});
  decoder.embedding_multiplier = config.Real({"embedding_multiplier"}, 1);
  decoder.multiplies_first = true;
  decoder.head.logit_divisor = config.Real({"logits_scaling"}, 1);
  layer.norm_epsilon = decoder.norm_epsilon;
  layer.residual_multiplier = config.Real({"residual_multiplier"}, 1);
  const bool mlp_bias = config.Flag({"mlp_bias"}, false);
  // Checked for every class; all layers attend fully whatever they say.
  ReadLayerTypes(config, decoder.layers);

  using Layer = ScaledLayer<GatedMlp>;
  auto model = std::make_unique<Decoder<Layer>>(
      root, decoder, [&](const Module& at, int64_t) {
        return Layer(at, layer, [&](const Module& mlp) {
          return GatedMlp(mlp, decoder.hidden, keys.intermediate, mlp_bias,
                          keys.activation);
        });
      });
  model->states.assign(static_cast<size_t>(decoder.layers),
                       StateOf(attention, 0));
  model->context_length = RopeContext(decoder.rope);
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"granite"};
constexpr std::array<std::string_view, 2> kClasses = {"GraniteForCausalLM",
                                                      "GraniteModel"};

}  // namespace

extern const Family kGraniteFamily = {
    .name = "granite",
    .title = "Granite",
    .doc =
        "Llama's decoder with embeddings, branches, scores and logits scaled; "
        "Granite 3 and PowerLM.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
