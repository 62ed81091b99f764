// Gemma: Llama's layer with norms that multiply by 1 + weight, wide heads, and
// embeddings scaled by the root of their width and shared with the head.
//
// Source: transformers 5.23, models/gemma/modeling_gemma.py and
// configuration_gemma.py.
#include <array>

#include "models/family.h"
#include "models/layers/check_fields.h"
#include "models/layers/decoder.h"
#include "models/layers/mlp.h"
#include "models/layers/read_decoder.h"

namespace foretell {
namespace {

AttentionConfig ReadGemmaAttention(const ConfigView& config) {
  AttentionConfig attention = ReadHeads(config, {.hidden = 3072, .heads = 16});
  attention.kv_heads = config.Size({"num_key_value_heads"}, 16);
  CheckKeyValueHeads(config, attention);
  attention.head_dim = config.Size({"head_dim"}, 256);
  attention.qkv_bias = config.Flag({"attention_bias"}, false);
  attention.output_bias = attention.qkv_bias;
  // The mask stays causal: only sdpa without a mask looks at this.
  attention.causal = !(config.Has("use_bidirectional_attention") &&
                       config.Flag({"use_bidirectional_attention"}, false));
  return attention;
}

// The class loads the exact gelu that old files name as the one by tanh, which
// the models were trained with.
void MendActivation(const ConfigView& config, Activation& activation) {
  const ConfigValue* stated = config.Raw("hidden_act");
  if (config.config().is_loaded || stated == nullptr) return;
  if (stated->AsString() != "gelu") return;
  activation = Activation::kGeluTanh;
  config.Derive("hidden_act", ConfigValue::String("gelu_pytorch_tanh"));
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  const AttentionConfig attention = ReadGemmaAttention(config);
  DecoderKeys keys = ReadDecoder(config, class_name, attention.hidden,
                                 {.vocabulary = 256000,
                                  .intermediate = 24576,
                                  .positions = 8192,
                                  .layers = 28,
                                  .ties = true,
                                  .padding = 0,
                                  .activation = "gelu_pytorch_tanh"});
  MendActivation(config, keys.activation);
  DecoderConfig& decoder = keys.decoder;
  decoder.norm_scale = RmsScale::kOnePlusWeight;
  decoder.scales_embeddings = true;
  decoder.rope = ReadRope(config, {.default_theta = 10000,
                                   .positions = keys.positions,
                                   .head_dim = attention.head_dim});
  // Checked for every class; all layers attend fully whatever they say.
  ReadLayerTypes(config, decoder.layers);
  // The class reads hidden_act alone, and has no biases in its feed-forward.
  config.Ignore({"hidden_activation", "mlp_bias"});

  using Layer = DecoderLayer<GatedMlp>;
  auto model = std::make_unique<Decoder<Layer>>(
      root, decoder, [&](const Module& at, int64_t) {
        return Layer(
            at, attention, decoder.norm_epsilon,
            [&](const Module& mlp) {
              return GatedMlp(mlp, decoder.hidden, keys.intermediate, false,
                              keys.activation);
            },
            decoder.norm_scale);
      });
  model->states.assign(static_cast<size_t>(decoder.layers),
                       StateOf(attention, 0));
  model->context_length = RopeContext(decoder.rope);
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"gemma"};
constexpr std::array<std::string_view, 4> kClasses = {
    "GemmaForCausalLM", "GemmaModel", "GemmaForSequenceClassification",
    "GemmaForTokenClassification"};

}  // namespace

extern const Family kGemmaFamily = {
    .name = "gemma",
    .title = "Gemma",
    .doc =
        "Llama's decoder with scaled embeddings that the head shares, and "
        "norms that multiply by one plus their weight.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .oldest_library = "4.57",
    .build = Build,
};

}  // namespace foretell
