// Ministral 3: Mistral's layer, whose queries grow with the logarithm of their
// position.
//
// Source: transformers 5.23, models/ministral3/modeling_ministral3.py and
// configuration_ministral3.py.
#include <array>
#include <optional>
#include <string>

#include "models/family.h"
#include "models/layers/decoder.h"
#include "models/layers/mlp.h"
#include "models/layers/read_decoder.h"

namespace foretell {
namespace {

AttentionConfig ReadMinistral3Attention(const ConfigView& config) {
  AttentionConfig attention = ReadHeads(config);
  attention.kv_heads = config.Size({"num_key_value_heads"}, 8);
  CheckKeyValueHeads(config, attention);
  attention.head_dim = config.Size({"head_dim"}, 128);
  return attention;
}

// What the class takes where the file states no rope.
ConfigValue DefaultRope(int64_t positions) {
  ConfigValue rope = ConfigValue::Object();
  rope.Set("type", ConfigValue::String("yarn"));
  rope.Set("rope_theta", ConfigValue::Number("1000000.0"));
  rope.Set("factor", ConfigValue::Number("16.0"));
  rope.Set("original_max_position_embeddings", ConfigValue::Number("16384"));
  rope.Set("max_position_embeddings",
           ConfigValue::Number(std::to_string(positions)));
  rope.Set("beta_fast", ConfigValue::Number("32.0"));
  rope.Set("beta_slow", ConfigValue::Number("1.0"));
  rope.Set("mscale_all_dim", ConfigValue::Number("1.0"));
  rope.Set("mscale", ConfigValue::Number("1.0"));
  rope.Set("llama_4_scaling_beta", ConfigValue::Number("0.1"));
  return rope;
}

// Both numbers stand among the rope's; the forward fails without either.
QueryScale ReadQueryScale(const ConfigView& config, const RopeConfig& read,
                          const ConfigValue* when_absent) {
  const ConfigView rope = RopeSettings(config, when_absent);
  const auto refuse = [&](std::string_view key) {
    config.Find("model/rope", Severity::kBlock, key,
                std::string(key) + " is not stated",
                "the class scales its queries by it, and its forward fails",
                "state it in rope_parameters");
  };
  QueryScale out;
  const auto beta = rope.OptionalReal({"llama_4_scaling_beta"});
  if (!beta) refuse("llama_4_scaling_beta");
  out.beta = beta.value_or(0);
  // Types with a scaling fill it in as they load; a number beside the rope
  // wins there.
  const bool is_filled =
      read.type == "yarn" || read.type == "llama3" || read.type == "longrope";
  constexpr std::string_view kOriginal = "original_max_position_embeddings";
  std::optional<double> original;
  if (rope.Raw(kOriginal) != nullptr) original = rope.OptionalReal({kOriginal});
  if (is_filled && read.original_positions) {
    original = static_cast<double>(*read.original_positions);
  } else if (is_filled && !original) {
    original = static_cast<double>(read.positions);
  }
  if (!original) refuse(kOriginal);
  out.original_positions = original.value_or(1);
  rope.Ignore({"max_position_embeddings"});  // the class has it beside the rope
  return out;
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  AttentionConfig attention = ReadMinistral3Attention(config);
  DecoderKeys keys = ReadDecoder(config, class_name, attention.hidden,
                                 {.vocabulary = 131072,
                                  .intermediate = 14336,
                                  .positions = 262144,
                                  .norm_epsilon = 1e-5,
                                  .layers = 34,
                                  .padding = 11});
  DecoderConfig& decoder = keys.decoder;
  const ConfigValue default_rope = DefaultRope(keys.positions);
  decoder.rope = ReadRope(config, {.default_theta = 10000,
                                   .positions = keys.positions,
                                   .head_dim = attention.head_dim,
                                   .when_absent = &default_rope});
  attention.query_scale = ReadQueryScale(config, decoder.rope, &default_rope);
  decoder.window = config.OptionalSize({"sliding_window"}).value_or(0);
  attention.window = decoder.window;
  // Checked for every class; all layers are alike whatever they say.
  ReadLayerTypes(config, decoder.layers);
  // The class has no biases.
  config.Ignore({"attention_bias", "mlp_bias"});

  using Layer = DecoderLayer<GatedMlp>;
  auto model = std::make_unique<Decoder<Layer>>(
      root, decoder, [&](const Module& at, int64_t) {
        return Layer(at, attention, decoder.norm_epsilon,
                     [&](const Module& mlp) {
                       return GatedMlp(mlp, decoder.hidden, keys.intermediate,
                                       false, keys.activation);
                     });
      });
  model->states.assign(static_cast<size_t>(decoder.layers),
                       StateOf(attention, decoder.window));
  model->context_length = RopeContext(decoder.rope);
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"ministral3"};
constexpr std::array<std::string_view, 5> kClasses = {
    "Ministral3ForCausalLM", "Ministral3Model",
    "Ministral3ForSequenceClassification", "Ministral3ForTokenClassification",
    "Ministral3ForQuestionAnswering"};

}  // namespace

extern const Family kMinistral3Family = {
    .name = "ministral3",
    .title = "Ministral 3",
    .doc =
        "Mistral's decoder whose queries grow with the logarithm of their "
        "position; Devstral 2 and the text part of Ministral 3.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
