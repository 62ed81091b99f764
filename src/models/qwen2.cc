// Qwen2 and Qwen2.5: Llama's layer with biases on queries, keys and values,
// and a window on the upper layers where the configuration switches it on.
//
// Source: transformers 5.23, models/qwen2/modeling_qwen2.py and
// configuration_qwen2.py.
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

AttentionConfig ReadQwen2Attention(const ConfigView& config) {
  AttentionConfig attention = ReadHeads(config);
  // An absent key is a number of the class's own, a null the heads'.
  attention.kv_heads =
      config.Raw("num_key_value_heads") == nullptr
          ? config.Size({"num_key_value_heads"}, 32)
          : SizeOrDerived(config, "num_key_value_heads", attention.heads);
  CheckKeyValueHeads(config, attention);
  // No field of the class, but read where a file states it.
  attention.head_dim = config.Raw("head_dim") == nullptr
                           ? EvenHeadDim(config, attention)
                           : config.Size({"head_dim"}, 128);
  attention.qkv_bias = true;
  return attention;
}

std::unique_ptr<Model> BuildText(const ConfigView& config, const Module& root,
                                 std::string_view class_name, bool has_axes) {
  AttentionConfig attention = ReadQwen2Attention(config);
  DecoderKeys keys = ReadDecoder(
      config, class_name, attention.hidden,
      {.vocabulary = 151936, .intermediate = 22016, .positions = 32768});
  DecoderConfig& decoder = keys.decoder;
  const WindowedLayers windows = ReadWindowedLayers(config, decoder.layers);
  decoder.window = windows.any_slides ? windows.window : 0;
  decoder.mixes_masks = true;
  decoder.rope =
      ReadRope(config, {.default_theta = 10000,
                        .positions = keys.positions,
                        .head_dim = attention.head_dim,
                        .head_dim_is_held = config.Raw("head_dim") != nullptr,
                        .layer_types = windows.types,
                        .takes_mrope = has_axes});
  if (has_axes) {
    decoder.rope.sections = ReadRopeSections(config, {16, 24, 24});
    decoder.rope.sections_side_by_side = true;
  }
  // Biases are fixed by the class; the last belongs to the vision model's text.
  config.Ignore({"attention_bias", "qkv_bias", "mlp_bias", "use_mrope"});
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

constexpr std::array<std::string_view, 1> kModelTypes = {"qwen2"};
constexpr std::array<std::string_view, 5> kClasses = {
    "Qwen2ForCausalLM", "Qwen2Model", "Qwen2ForSequenceClassification",
    "Qwen2ForTokenClassification", "Qwen2ForQuestionAnswering"};

}  // namespace

std::unique_ptr<Model> BuildQwen2Axes(const ConfigView& config,
                                      const Module& root,
                                      std::string_view class_name) {
  return BuildText(config, root, class_name, true);
}

extern const Family kQwen2Family = {
    .name = "qwen2",
    .title = "Qwen2",
    .doc =
        "Llama's decoder with biases on queries, keys and values; upper layers "
        "may attend to a window.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .oldest_library = "4.57",
    .build = Build,
};

}  // namespace foretell
