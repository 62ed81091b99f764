// EXAONE 4: OLMo 2's order of branches and norms, with norms on each head of
// queries and keys; layers over all tokens know no positions where others
// attend to a window.
//
// Source: transformers 5.23, models/exaone4/modeling_exaone4.py and
// configuration_exaone4.py.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "models/family.h"
#include "models/layers/check_fields.h"
#include "models/layers/decoder.h"
#include "models/layers/post_norm_layer.h"
#include "models/layers/read_decoder.h"
#include "models/layers/windowed_layers.h"

namespace foretell {
namespace {

constexpr std::string_view kSliding = "sliding_attention";
constexpr std::string_view kFull = "full_attention";

AttentionConfig ReadExaone4Attention(const ConfigView& config) {
  AttentionConfig attention = ReadHeads(config);
  attention.kv_heads = config.Size({"num_key_value_heads"}, 32);
  CheckKeyValueHeads(config, attention);
  // No field of the class, but read where a file states it.
  attention.head_dim = config.Raw("head_dim") == nullptr
                           ? EvenHeadDim(config, attention)
                           : config.Size({"head_dim"}, 128);
  attention.qk_norm = QkNorm::kMovedHeads;
  return attention;
}

// Every so many layers attend to all tokens; layer_types decides where it is
// listed.
void WorkOutTypes(const ConfigView& config, int64_t layers,
                  WindowedLayers& out) {
  const ConfigValue* pattern = config.Raw("sliding_window_pattern");
  const bool is_text = pattern != nullptr && pattern->AsString().has_value();
  const int64_t every = out.window == 0 || is_text
                            ? 0
                            : config.OptionalInteger({"sliding_window_pattern"})
                                  .value_or(pattern == nullptr ? 4 : 0);
  if (every == 0 && layers > 0) {
    config.Find("model/layer-types", Severity::kBlock, "layer_types",
                out.window == 0 ? "layer_types is absent, and so is the window"
                                : "layer_types is absent, and "
                                  "sliding_window_pattern is no number",
                "the class takes the number of a layer modulo it and fails",
                "list layer_types");
  }
  for (int64_t layer = 0; layer < layers; ++layer) {
    const bool slides = every != 0 && (layer + 1) % every != 0;
    out.types.emplace_back(slides ? kSliding : kFull);
  }
  DeriveLayerTypes(config, out.types);
}

WindowedLayers ReadLayers(const ConfigView& config, int64_t layers) {
  WindowedLayers out;
  out.window = config.Raw("sliding_window") == nullptr
                   ? config.Size({"sliding_window"}, 4096)
                   : config.OptionalSize({"sliding_window"}).value_or(0);
  out.types = ReadLayerTypes(config, layers);
  if (!config.Has("layer_types")) {
    if (config.config().is_loaded && config.Raw("layer_types") != nullptr) {
      config.Problem("layer_types", "is null on a loaded configuration",
                     "list the kinds of the layers");
    } else {
      WorkOutTypes(config, layers, out);
    }
  }
  config.Ignore({"sliding_window_pattern"});  // layer_types says it
  out.any_slides = std::ranges::find(out.types, kSliding) != out.types.end();
  if (out.any_slides && out.window == 0) {
    config.Find("model/window", Severity::kBlock, "sliding_window",
                "layer_types names sliding layers, but sliding_window is null",
                "the forward fails as it builds the mask",
                "set sliding_window");
  }
  for (const std::string& type : out.types) {
    if (type == kFull || type == kSliding) continue;
    config.Find(
        "model/layer-types", Severity::kBlock, "layer_types",
        fmt::format("the class builds no mask for \"{}\"", type.substr(0, 40)),
        "its forward fails at the first such layer",
        "write full_attention or sliding_attention for each layer");
    break;
  }
  return out;
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  AttentionConfig attention = ReadExaone4Attention(config);
  DecoderKeys keys = ReadDecoder(
      config, class_name, attention.hidden,
      {.vocabulary = 102400, .intermediate = 16384, .norm_epsilon = 1e-5});
  DecoderConfig& decoder = keys.decoder;
  attention.qk_norm_epsilon = decoder.norm_epsilon;
  const WindowedLayers layers = ReadLayers(config, decoder.layers);
  decoder.window = layers.any_slides ? layers.window : 0;
  decoder.mixes_masks = true;
  decoder.rope =
      ReadRope(config, {.default_theta = 10000,
                        .positions = keys.positions,
                        .head_dim = attention.head_dim,
                        .head_dim_is_held = config.Raw("head_dim") != nullptr,
                        .layer_types = layers.types});
  // The class has no biases.
  config.Ignore({"attention_bias", "mlp_bias"});
  if (decoder.head.kind == Head::kQuestionAnswering) {
    decoder.base_name = "transformer";
  }

  auto model = std::make_unique<Decoder<PostNormLayer>>(
      root, decoder, [&](const Module& at, int64_t index) {
        attention.window = layers.WindowOf(index);
        const bool turns = layers.window == 0 || attention.window > 0;
        attention.turn = turns ? ApplyRotary : nullptr;
        return PostNormLayer(at, attention, decoder.norm_epsilon,
                             decoder.norm_scale, keys.intermediate,
                             keys.activation);
      });
  for (int64_t layer = 0; layer < decoder.layers; ++layer) {
    model->states.push_back(StateOf(attention, layers.WindowOf(layer)));
  }
  model->context_length = RopeContext(decoder.rope);
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"exaone4"};
constexpr std::array<std::string_view, 5> kClasses = {
    "Exaone4ForCausalLM", "Exaone4Model", "Exaone4ForSequenceClassification",
    "Exaone4ForTokenClassification", "Exaone4ForQuestionAnswering"};

}  // namespace

extern const Family kExaone4Family = {
    .name = "exaone4",
    .title = "EXAONE 4",
    .doc =
        "A decoder whose branches stand before their norms; layers with a "
        "window are turned by position, those over all tokens are not.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
