// Qwen3: Llama's layer with an RMSNorm on each head of queries and keys, and
// heads whose width does not follow from the hidden size.
//
// Source: transformers 5.23, models/qwen3/modeling_qwen3.py and
// configuration_qwen3.py.
#include <array>

#include "models/axis_text.h"
#include "models/family.h"
#include "models/layers/axis_rope.h"
#include "models/layers/decoder.h"
#include "models/layers/mlp.h"
#include "models/layers/read_decoder.h"
#include "models/layers/windowed_layers.h"

namespace foretell {
namespace {

AttentionConfig ReadQwen3Attention(const ConfigView& config) {
  AttentionConfig attention = ReadHeads(config);
  // An absent key is a number of the class's own, a null the heads'.
  attention.kv_heads =
      config.Raw("num_key_value_heads") == nullptr
          ? config.Size({"num_key_value_heads"}, 32)
          : SizeOrDerived(config, "num_key_value_heads", attention.heads);
  CheckKeyValueHeads(config, attention);
  attention.head_dim = config.Size({"head_dim"}, 128);
  attention.qkv_bias = config.Flag({"attention_bias"}, false);
  attention.output_bias = attention.qkv_bias;
  return attention;
}

std::unique_ptr<Model> BuildText(const ConfigView& config, const Module& root,
                                 std::string_view class_name, bool has_axes) {
  AttentionConfig attention = ReadQwen3Attention(config);
  DecoderKeys keys = ReadDecoder(
      config, class_name, attention.hidden,
      {.vocabulary = 151936, .intermediate = 22016, .positions = 32768});
  DecoderConfig& decoder = keys.decoder;
  attention.qk_norm_epsilon = decoder.norm_epsilon;
  const WindowedLayers windows = ReadWindowedLayers(config, decoder.layers);
  decoder.window = windows.any_slides ? windows.window : 0;
  decoder.mixes_masks = true;
  decoder.rope = ReadRope(config, {.default_theta = 10000,
                                   .positions = keys.positions,
                                   .head_dim = attention.head_dim,
                                   .layer_types = windows.types});
  if (has_axes) {
    decoder.rope.sections = ReadRopeSections(config, {24, 20, 20});
  }
  // The class has no such attributes.
  config.Ignore({"mlp_bias", "use_qk_norm"});
  if (decoder.head.kind == Head::kQuestionAnswering) {
    decoder.base_name = "transformer";
  }

  using Layer = DecoderLayer<GatedMlp>;
  auto model = std::make_unique<Decoder<Layer>>(
      root, decoder, [&](const Module& at, int64_t index) {
        attention.window = windows.WindowOf(index);
        return Layer(at, attention, decoder.norm_epsilon,
                     [&](const Module& mlp) {
                       return GatedMlp(mlp, decoder.hidden, keys.intermediate,
                                       false, keys.activation);
                     });
      });
  for (int64_t layer = 0; layer < decoder.layers; ++layer) {
    model->states.push_back(StateOf(attention, windows.WindowOf(layer)));
  }
  model->context_length = RopeContext(decoder.rope);
  return model;
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  return BuildText(config, root, class_name, false);
}

constexpr std::array<std::string_view, 1> kModelTypes = {"qwen3"};
constexpr std::array<std::string_view, 5> kClasses = {
    "Qwen3ForCausalLM", "Qwen3Model", "Qwen3ForSequenceClassification",
    "Qwen3ForTokenClassification", "Qwen3ForQuestionAnswering"};

}  // namespace

std::unique_ptr<Model> BuildQwen3Axes(const ConfigView& config,
                                      const Module& root,
                                      std::string_view class_name) {
  return BuildText(config, root, class_name, true);
}

extern const Family kQwen3Family = {
    .name = "qwen3",
    .title = "Qwen3",
    .doc =
        "Llama's decoder with an RMSNorm on every head of queries and keys; "
        "upper layers may attend to a window.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .oldest_library = "4.57",
    .build = Build,
};

}  // namespace foretell
