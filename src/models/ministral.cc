// Ministral: Mistral's layer, some of them over a window, others over all
// tokens.
//
// Source: transformers 5.23, models/ministral/modeling_ministral.py and
// configuration_ministral.py.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "models/family.h"
#include "models/layers/decoder.h"
#include "models/layers/mlp.h"
#include "models/layers/read_decoder.h"
#include "models/layers/windowed_layers.h"

namespace foretell {
namespace {

constexpr std::string_view kSliding = "sliding_attention";
constexpr std::string_view kFull = "full_attention";

AttentionConfig ReadMinistralAttention(const ConfigView& config) {
  AttentionConfig attention = ReadHeads(config);
  attention.kv_heads = config.Size({"num_key_value_heads"}, 8);
  CheckKeyValueHeads(config, attention);
  const auto stated = config.OptionalSize({"head_dim"});
  attention.head_dim = stated.value_or(EvenHeadDim(config, attention));
  // The class holds the key as null, and multiplies by it.
  if (!stated) {
    config.Find("model/heads", Severity::kBlock, "head_dim",
                "head_dim is not stated",
                "the class works out none, and building a layer fails",
                fmt::format("set head_dim to {}", attention.head_dim));
  }
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
    out.types.assign(static_cast<size_t>(layers),
                     std::string(out.window > 0 ? kSliding : kFull));
    DeriveLayerTypes(config, out.types);
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
  out.any_slides = std::ranges::find(out.types, kSliding) != out.types.end();
  return out;
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  AttentionConfig attention = ReadMinistralAttention(config);
  DecoderKeys keys = ReadDecoder(config, class_name, attention.hidden,
                                 {.intermediate = 14336, .positions = 131072});
  DecoderConfig& decoder = keys.decoder;
  const WindowedLayers layers = ReadLayers(config, decoder.layers);
  decoder.window = layers.window;
  decoder.mixes_masks = true;
  decoder.rope = ReadRope(config, {.default_theta = 10000,
                                   .positions = keys.positions,
                                   .head_dim = attention.head_dim,
                                   .layer_types = layers.types});
  // The class has no biases.
  config.Ignore({"attention_bias", "mlp_bias"});
  if (decoder.head.kind == Head::kQuestionAnswering) {
    decoder.base_name = "transformer";
  }

  using Layer = DecoderLayer<GatedMlp>;
  auto model = std::make_unique<Decoder<Layer>>(
      root, decoder, [&](const Module& at, int64_t index) {
        attention.window = layers.WindowOf(index);
        return Layer(at, attention, decoder.norm_epsilon,
                     [&](const Module& mlp) {
                       return GatedMlp(mlp, decoder.hidden, keys.intermediate,
                                       false, keys.activation);
                     });
      });
  for (int64_t layer = 0; layer < decoder.layers; ++layer) {
    model->states.push_back(StateOf(attention, layers.WindowOf(layer)));
  }
  model->context_length = RopeContext(decoder.rope);
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"ministral"};
constexpr std::array<std::string_view, 5> kClasses = {
    "MinistralForCausalLM", "MinistralModel",
    "MinistralForSequenceClassification", "MinistralForTokenClassification",
    "MinistralForQuestionAnswering"};

}  // namespace

extern const Family kMinistralFamily = {
    .name = "ministral",
    .title = "Ministral",
    .doc =
        "Mistral's decoder, some of whose layers attend to a window of the "
        "last tokens and others to all.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
