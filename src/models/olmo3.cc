// OLMo 3: OLMo 2's layer, three of four over a window; each kind of layer has
// a rope of its own.
//
// Source: transformers 5.23, models/olmo3/modeling_olmo3.py and
// configuration_olmo3.py.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "models/family.h"
#include "models/layers/decoder.h"
#include "models/layers/post_norm_layer.h"
#include "models/layers/read_decoder.h"
#include "models/layers/windowed_layers.h"

namespace foretell {
namespace {

constexpr std::string_view kSliding = "sliding_attention";
constexpr std::string_view kFull = "full_attention";

AttentionConfig ReadOlmo3Attention(const ConfigView& config) {
  AttentionConfig attention = ReadHeads(config);
  attention.kv_heads =
      SizeOrDerived(config, "num_key_value_heads", attention.heads);
  CheckKeyValueHeads(config, attention);
  // No field of the class, but read where a file states it.
  attention.head_dim = config.Raw("head_dim") == nullptr
                           ? EvenHeadDim(config, attention)
                           : config.Size({"head_dim"}, 128);
  attention.qkv_bias = config.Flag({"attention_bias"}, false);
  attention.output_bias = attention.qkv_bias;
  attention.qk_norm = QkNorm::kWhole;
  attention.qk_norm_scale = RmsScale::kWeightInFloat;
  attention.projects_first = true;
  attention.turn = ApplyWideRotary;
  return attention;
}

WindowedLayers ReadLayers(const ConfigView& config, int64_t layers) {
  WindowedLayers out;
  out.window = config.Raw("sliding_window") == nullptr
                   ? config.Size({"sliding_window"}, 4096)
                   : config.OptionalSize({"sliding_window"}).value_or(0);
  // Both masks are built, whichever kinds of layers there are.
  if (out.window == 0) {
    config.Find("model/window", Severity::kBlock, "sliding_window",
                "no sliding_window is in use",
                "the class builds a window's mask for every forward and fails",
                "set sliding_window");
  }
  out.types = ReadLayerTypes(config, layers);
  if (!config.Has("layer_types")) {
    if (config.config().is_loaded && config.Raw("layer_types") != nullptr) {
      config.Problem("layer_types", "is null on a loaded configuration",
                     "list the kinds of the layers");
    }
    for (int64_t layer = 0; layer < layers; ++layer) {
      out.types.emplace_back((layer + 1) % 4 != 0 ? kSliding : kFull);
    }
    DeriveLayerTypes(config, out.types);
  }
  for (const std::string& type : out.types) {
    if (type == kFull || type == kSliding) continue;
    config.Find(
        "model/layer-types", Severity::kBlock, "layer_types",
        fmt::format("the class has no rope for \"{}\"", type.substr(0, 40)),
        "it is not built with such a layer",
        "write full_attention or sliding_attention for each layer");
    break;
  }
  return out;
}

// The ropes of both kinds as the class holds them: rope_parameters by kind of
// layer, where an old rope_scaling goes to the layers over all tokens.
ConfigValue HeldRopes(const ConfigView& config) {
  ConfigValue held = ConfigValue::Object();
  const ConfigValue* stated = config.Raw("rope_parameters");
  for (const std::string_view kind : {kFull, kSliding}) {
    ConfigValue rope = ConfigValue::Object();
    const ConfigValue* found = stated ? stated->Find(kind) : nullptr;
    if (found != nullptr && found->is_object()) rope = *found;
    const ConfigValue* scaling = config.Raw("rope_scaling");
    if (kind == kFull && scaling != nullptr && scaling->is_object()) {
      for (const auto& [key, value] : scaling->members()) rope.Set(key, value);
    }
    const ConfigValue* type = rope.Find("type");
    if (rope.Find("rope_type") == nullptr) {
      rope.Set("rope_type", type ? *type : ConfigValue::String("default"));
    }
    if (rope.Find("rope_theta") == nullptr) {
      rope.Set("rope_theta", ConfigValue::Number("500000.0"));
    }
    held.Set(kind, std::move(rope));
  }
  return held;
}

// One rope for each kind of layer in use.
void ReadRopes(const ConfigView& config, const std::vector<std::string>& types,
               const RopeReading& reading, DecoderConfig& decoder) {
  const ConfigView stated = config.Nested("rope_parameters");
  const ConfigView scaling = config.Nested("rope_scaling");
  if (scaling.object() != nullptr && stated.object() != nullptr &&
      !stated.Has(kFull)) {
    config.Find("model/rope", Severity::kBlock, "rope_scaling",
                "rope_scaling is stated beside a rope_parameters that lacks "
                "full_attention",
                "the class adds the one to the other and does not load",
                "write the scaling into rope_parameters.full_attention");
  }
  // Theta decides about no shape, and no other key beside them is looked at.
  config.Ignore({"rope_parameters", "rope_scaling", "rope_theta",
                 "partial_rotary_factor", "original_max_position_embeddings"});
  if (scaling.object() != nullptr) {
    for (const auto& member : scaling.object()->members()) {
      scaling.Ignore({member.first});  // read below, among the full layers'
    }
  }
  const ConfigValue held = HeldRopes(config);
  // No key of the file: a name for what was put together.
  const ConfigView all = config.NestedOr("rope_parameters of the class", &held);
  for (const std::string_view kind : {kFull, kSliding}) {
    if (std::ranges::find(types, kind) == types.end()) continue;
    RopeConfig rope = ReadKindRope(all.Nested(kind), reading);
    rope.stays_wide = true;
    decoder.kinds.push_back({std::string(kind), kind == kSliding, rope});
    if (decoder.kinds.size() == 1) decoder.rope = rope;
  }
  config.Derive("rope_parameters", held);
  config.Derive("rope_scaling", ConfigValue::Null());
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  AttentionConfig attention = ReadOlmo3Attention(config);
  DecoderKeys keys =
      ReadDecoder(config, class_name, attention.hidden,
                  {.vocabulary = 50304, .norm_epsilon = 1e-5, .padding = 1});
  DecoderConfig& decoder = keys.decoder;
  attention.qk_norm_epsilon = decoder.norm_epsilon;
  decoder.norm_scale = RmsScale::kWeightInFloat;
  const WindowedLayers layers = ReadLayers(config, decoder.layers);
  decoder.window = layers.window;
  decoder.mixes_masks = true;
  decoder.rope.positions = keys.positions;
  ReadRopes(config, layers.types,
            {.default_theta = 500000,
             .positions = keys.positions,
             .head_dim = attention.head_dim,
             .head_dim_is_held = config.Raw("head_dim") != nullptr},
            decoder);
  // OLMo's range of projections, split products and biases: not in this class.
  config.Ignore({"clip_qkv", "pretraining_tp", "mlp_bias"});

  auto model = std::make_unique<Decoder<PostNormLayer>>(
      root, decoder, [&](const Module& at, int64_t index) {
        attention.window = layers.WindowOf(index);
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

constexpr std::array<std::string_view, 1> kModelTypes = {"olmo3"};
constexpr std::array<std::string_view, 3> kClasses = {
    "Olmo3ForCausalLM", "Olmo3Model", "Olmo3ForSequenceClassification"};

}  // namespace

extern const Family kOlmo3Family = {
    .name = "olmo3",
    .title = "OLMo 3",
    .doc =
        "OLMo 2's decoder with a window in three of four layers and a rope of "
        "its own for each kind of layer.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
