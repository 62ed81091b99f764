// SmolLM3: Llama's layer, whose every fourth attention is not turned by
// position; those may attend to a window.
//
// Source: transformers 5.23, models/smollm3/modeling_smollm3.py and
// configuration_smollm3.py.
#include <fmt/format.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "models/family.h"
#include "models/layers/check_fields.h"
#include "models/layers/decoder.h"
#include "models/layers/mlp.h"
#include "models/layers/read_decoder.h"
#include "models/layers/windowed_layers.h"

namespace foretell {
namespace {

AttentionConfig ReadSmolLm3Attention(const ConfigView& config) {
  AttentionConfig attention = ReadHeads(config, {.hidden = 2048, .heads = 16});
  attention.kv_heads =
      config.Raw("num_key_value_heads") == nullptr
          ? config.Size({"num_key_value_heads"}, 4)
          : SizeOrDerived(config, "num_key_value_heads", attention.heads);
  CheckKeyValueHeads(config, attention);
  // No field of the class, but read where a file states it.
  attention.head_dim = config.Raw("head_dim") == nullptr
                           ? EvenHeadDim(config, attention)
                           : config.Size({"head_dim"}, 128);
  attention.qkv_bias = config.Flag({"attention_bias"}, false);
  attention.output_bias = attention.qkv_bias;
  return attention;
}

// By layer, whether it turns its heads: no_rope_layers has a 1 where it does.
std::vector<bool> ReadTurns(const ConfigView& config, int64_t layers) {
  const int64_t interval = config.Whole({"no_rope_layer_interval"}, 4);
  std::vector<bool> out;
  if (const auto listed = config.IntegerList({"no_rope_layers"})) {
    for (const int64_t turns : *listed) out.push_back(turns != 0);
    if (out.size() < static_cast<size_t>(layers)) {
      config.Find("model/layer-types", Severity::kBlock, "no_rope_layers",
                  fmt::format("no_rope_layers names {} layers of {}",
                              out.size(), layers),
                  "the class looks up each layer in it and fails",
                  fmt::format("list {} numbers, or remove the key", layers));
    }
    out.resize(static_cast<size_t>(layers));
    return out;
  }
  if (config.config().is_loaded && config.Raw("no_rope_layers") != nullptr) {
    config.Problem("no_rope_layers", "is null on a loaded configuration",
                   "list a 1 or 0 for each layer");
  }
  if (interval == 0 && layers > 0) {
    config.Find("model/layer-types", Severity::kBlock, "no_rope_layer_interval",
                "no_rope_layer_interval is 0",
                "the class takes the number of a layer modulo it and fails",
                "set it to 4, or list no_rope_layers");
  }
  std::vector<ConfigValue> items;
  for (int64_t layer = 0; layer < layers; ++layer) {
    out.push_back(interval != 0 && (layer + 1) % interval != 0);
    items.push_back(ConfigValue::Number(out.back() ? "1" : "0"));
  }
  config.Derive("no_rope_layers", ConfigValue::Array(std::move(items)));
  return out;
}

struct SmolLm3Layers {
  std::vector<std::string> types;
  std::vector<bool> turns;
  int64_t window = 0;
  bool any_slides = false;

  int64_t WindowOf(int64_t layer) const {
    const auto at = static_cast<size_t>(layer);
    return at < types.size() && types[at] == "sliding_attention" ? window : 0;
  }
  bool Turns(int64_t layer) const { return turns[static_cast<size_t>(layer)]; }
};

SmolLm3Layers ReadLayers(const ConfigView& config, int64_t layers) {
  SmolLm3Layers out;
  const bool is_used = config.Flag({"use_sliding_window"}, false);
  const auto window = config.OptionalSize({"sliding_window"});
  out.window = window.value_or(0);
  out.turns = ReadTurns(config, layers);
  out.types = ReadLayerTypes(config, layers);
  if (!config.Has("layer_types")) {
    for (int64_t layer = 0; layer < layers; ++layer) {
      const bool slides = is_used && window && !out.Turns(layer);
      out.types.emplace_back(slides ? "sliding_attention" : "full_attention");
    }
    DeriveLayerTypes(config, out.types);
  }
  for (const std::string& type : out.types) {
    out.any_slides = out.any_slides || type == "sliding_attention";
    if (type == "full_attention" || type == "sliding_attention") continue;
    config.Find(
        "model/layer-types", Severity::kBlock, "layer_types",
        fmt::format("the class builds no mask for \"{}\"", type.substr(0, 40)),
        "its forward fails at the first such layer",
        "write full_attention or sliding_attention for each layer");
    break;
  }
  if (out.any_slides && out.window == 0) {
    config.Find("model/window", Severity::kBlock, "sliding_window",
                "layer_types names sliding layers, but sliding_window is null",
                "the forward fails as it builds the mask",
                "set sliding_window");
  }
  return out;
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  AttentionConfig attention = ReadSmolLm3Attention(config);
  DecoderKeys keys = ReadDecoder(config, class_name, attention.hidden,
                                 {.vocabulary = 128256,
                                  .positions = 32768,
                                  .layers = 36,
                                  .ties = true,
                                  .padding = 128004});
  DecoderConfig& decoder = keys.decoder;
  const SmolLm3Layers layers = ReadLayers(config, decoder.layers);
  decoder.window = layers.any_slides ? layers.window : 0;
  decoder.mixes_masks = true;
  decoder.rope =
      ReadRope(config, {.default_theta = 2000000,
                        .positions = keys.positions,
                        .head_dim = attention.head_dim,
                        .head_dim_is_held = config.Raw("head_dim") != nullptr,
                        .layer_types = layers.types});
  const bool mlp_bias = config.Flag({"mlp_bias"}, false);
  // Qwen's lists by layer and Llama's split products: no such attributes here.
  config.Ignore({"max_window_layers", "pretraining_tp"});
  if (decoder.head.kind == Head::kQuestionAnswering) {
    decoder.base_name = "transformer";
  }

  using Layer = DecoderLayer<GatedMlp>;
  auto model = std::make_unique<Decoder<Layer>>(
      root, decoder, [&](const Module& at, int64_t index) {
        attention.window = layers.WindowOf(index);
        attention.turn = layers.Turns(index) ? ApplyRotary : nullptr;
        return Layer(at, attention, decoder.norm_epsilon,
                     [&](const Module& mlp) {
                       return GatedMlp(mlp, decoder.hidden, keys.intermediate,
                                       mlp_bias, keys.activation);
                     });
      });
  for (int64_t layer = 0; layer < decoder.layers; ++layer) {
    model->states.push_back(StateOf(attention, layers.WindowOf(layer)));
  }
  model->context_length = RopeContext(decoder.rope);
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"smollm3"};
constexpr std::array<std::string_view, 5> kClasses = {
    "SmolLM3ForCausalLM", "SmolLM3Model", "SmolLM3ForSequenceClassification",
    "SmolLM3ForTokenClassification", "SmolLM3ForQuestionAnswering"};

}  // namespace

extern const Family kSmolLm3Family = {
    .name = "smollm3",
    .title = "SmolLM3",
    .doc =
        "Llama's decoder whose every fourth attention knows no positions; "
        "those layers may attend to a window.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
