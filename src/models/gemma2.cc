// Gemma 2: Gemma with a second norm behind attention and feed-forward, every
// other layer attending to a window, and scores and logits held below a cap.
//
// Source: transformers 5.23, models/gemma2/modeling_gemma2.py and
// configuration_gemma2.py.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <optional>

#include "models/family.h"
#include "models/layers/check_fields.h"
#include "models/layers/decoder.h"
#include "models/layers/read_decoder.h"
#include "models/layers/sandwich_layer.h"
#include "models/layers/windowed_layers.h"

namespace foretell {
namespace {

// query_pre_attn_scalar to the power -1/2; the class looks at it as it builds a
// layer.
double ReadScale(const ConfigView& config) {
  CheckFields(config, {{"query_pre_attn_scalar", FieldKind::kWhole}});
  const int64_t scalar =
      config.Raw("query_pre_attn_scalar") == nullptr
          ? config.Size({"query_pre_attn_scalar"}, 256)
          : config.OptionalInteger({"query_pre_attn_scalar"}).value_or(256);
  if (scalar <= 0) {
    config.Find("model/scale", Severity::kBlock, "query_pre_attn_scalar",
                fmt::format("query_pre_attn_scalar is {}", scalar),
                "scores are divided by its root; the model fails as it is "
                "built or run",
                "set query_pre_attn_scalar to head_dim");
    return 1;
  }
  return 1 / std::sqrt(static_cast<double>(scalar));
}

AttentionConfig ReadGemma2Attention(const ConfigView& config) {
  AttentionConfig attention = ReadHeads(
      config, {.hidden = 2304, .heads = 8, .dropout_may_be_null = true});
  attention.kv_heads = config.Size({"num_key_value_heads"}, 4);
  CheckKeyValueHeads(config, attention);
  attention.head_dim = config.Size({"head_dim"}, 256);
  attention.qkv_bias = config.Flag({"attention_bias"}, false);
  attention.output_bias = attention.qkv_bias;
  attention.scale = ReadScale(config);
  CheckEvenHeads(config, attention, "Gemma2Config");
  const ConfigValue* dropout = config.Raw("attention_dropout");
  if (dropout != nullptr && dropout->is_null()) {
    config.Find("model/dropout", Severity::kBlock, "attention_dropout",
                "attention_dropout is null",
                "the class takes it, but a training step fails on it",
                "set attention_dropout to 0.0");
  }
  return attention;
}

// A cap, its default where absent, nothing where null.
std::optional<double> ReadCap(const ConfigView& config, std::string_view key,
                              double otherwise) {
  CheckFields(config, {{key, FieldKind::kFloat, true}});
  if (config.Raw(key) == nullptr) return config.Real({key}, otherwise);
  return config.OptionalReal({key});
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  AttentionConfig attention = ReadGemma2Attention(config);
  attention.softcap = ReadCap(config, "attn_logit_softcapping", 50);
  DecoderKeys keys = ReadDecoder(config, class_name, attention.hidden,
                                 {.vocabulary = 256000,
                                  .intermediate = 9216,
                                  .positions = 8192,
                                  .layers = 26,
                                  .ties = true,
                                  .padding = 0,
                                  .activation_key = "hidden_activation",
                                  .activation = "gelu_pytorch_tanh"});
  DecoderConfig& decoder = keys.decoder;
  decoder.norm_scale = RmsScale::kOnePlusWeight;
  decoder.scales_embeddings = true;
  // sdpa has no cap of scores, so the class refuses it, cap or no cap.
  decoder.is_eager_only = true;
  decoder.caps_scores = true;
  decoder.head.logit_softcap = ReadCap(config, "final_logit_softcapping", 30);
  const WindowedLayers windows = ReadPeriodicLayers(config, decoder.layers, 2);
  decoder.window = windows.window;
  decoder.mixes_masks = true;
  decoder.rope = ReadRope(config, {.default_theta = 10000,
                                   .positions = keys.positions,
                                   .head_dim = attention.head_dim,
                                   .layer_types = windows.types});
  // Only sdpa would look at it.
  CheckFields(config,
              {{"use_bidirectional_attention", FieldKind::kFlag, true}});
  // Left by older forms: the class reads hidden_activation and sliding_window,
  // a cache is none of a training step's, and eager attention is its only one.
  config.Ignore({"hidden_act", "sliding_window_size", "cache_implementation",
                 "mlp_bias", "_attn_implementation"});

  auto model = std::make_unique<Decoder<SandwichLayer>>(
      root, decoder, [&](const Module& at, int64_t index) {
        attention.window = windows.WindowOf(index);
        return SandwichLayer(at, attention, decoder.norm_epsilon,
                             keys.intermediate, keys.activation);
      });
  for (int64_t layer = 0; layer < decoder.layers; ++layer) {
    model->states.push_back(StateOf(attention, windows.WindowOf(layer)));
  }
  model->context_length = RopeContext(decoder.rope);
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"gemma2"};
constexpr std::array<std::string_view, 4> kClasses = {
    "Gemma2ForCausalLM", "Gemma2Model", "Gemma2ForSequenceClassification",
    "Gemma2ForTokenClassification"};

}  // namespace

extern const Family kGemma2Family = {
    .name = "gemma2",
    .title = "Gemma 2",
    .doc =
        "Gemma's decoder with four norms a layer, a window in every other "
        "layer, and soft caps on scores and logits.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .oldest_library = "4.57",
    .build = Build,
};

}  // namespace foretell
