// Mistral: Llama's layer without biases, and a window over the last tokens that
// all layers share (Mistral 7B v0.1) or none has (later ones).
//
// Source: transformers 5.23, models/mistral/modeling_mistral.py and
// configuration_mistral.py.
#include <array>

#include "models/family.h"
#include "models/layers/decoder.h"
#include "models/layers/mlp.h"
#include "models/layers/read_decoder.h"

namespace foretell {
namespace {

AttentionConfig ReadMistralAttention(const ConfigView& config) {
  AttentionConfig attention = ReadHeads(config);
  attention.kv_heads = config.Size({"num_key_value_heads"}, 8);
  CheckKeyValueHeads(config, attention);
  // A zero, and a null on a loaded configuration, are as good as none to the
  // layers, which then work it out themselves.
  const ConfigValue* stated = config.Raw("head_dim");
  const bool is_zero = stated != nullptr && stated->AsInteger() == 0;
  const bool is_late_null =
      stated != nullptr && stated->is_null() && config.config().is_loaded;
  const int64_t even = EvenHeadDim(config, attention);
  attention.head_dim =
      is_zero || is_late_null ? even : SizeOrDerived(config, "head_dim", even);
  return attention;
}

// The library reads a file of model_type mistral with `layer_types`, even
// null, as Ministral's (models/auto/configuration_auto.py).
void CheckMinistral(const ConfigView& config) {
  if (config.Raw("layer_types") == nullptr) return;
  config.Find("model/ministral", Severity::kWarn, "layer_types",
              "a file of model_type mistral with layer_types is read as "
              "Ministral's",
              "MistralForCausalLM has the same tensors, but the automatic "
              "classes build a Ministral",
              "remove layer_types, or ask for the class");
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  AttentionConfig attention = ReadMistralAttention(config);
  DecoderKeys keys = ReadDecoder(config, class_name, attention.hidden,
                                 {.intermediate = 14336, .positions = 131072});
  DecoderConfig& decoder = keys.decoder;
  decoder.rope = ReadRope(config, {.default_theta = 10000,
                                   .positions = keys.positions,
                                   .head_dim = attention.head_dim});
  // An absent key is a window, a null is none.
  decoder.window = config.Raw("sliding_window") == nullptr
                       ? config.Size({"sliding_window"}, 4096)
                       : config.OptionalSize({"sliding_window"}).value_or(0);
  attention.window = decoder.window;
  CheckMinistral(config);
  ReadLayerTypes(config, decoder.layers);
  // The class has no biases and no such attributes.
  config.Ignore({"attention_bias", "mlp_bias", "use_sliding_window",
                 "max_window_layers"});

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

constexpr std::array<std::string_view, 1> kModelTypes = {"mistral"};
constexpr std::array<std::string_view, 5> kClasses = {
    "MistralForCausalLM", "MistralModel", "MistralForSequenceClassification",
    "MistralForTokenClassification", "MistralForQuestionAnswering"};

}  // namespace

extern const Family kMistralFamily = {
    .name = "mistral",
    .title = "Mistral",
    .doc =
        "Llama's decoder without biases; every layer attends to a window of "
        "the last tokens where the configuration states one.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .oldest_library = "4.57",
    .build = Build,
};

}  // namespace foretell
