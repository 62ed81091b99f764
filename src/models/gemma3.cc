// Gemma 3's language model: Gemma 2's layer with norms of queries and keys in
// place of caps, five windows to each full layer, and a rope for each kind;
// EmbeddingGemma's tokens see both sides.
//
// Source: transformers 5.23, models/gemma3/modeling_gemma3.py and
// configuration_gemma3.py (Gemma3TextConfig).
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "models/family.h"
#include "models/layers/check_fields.h"
#include "models/layers/decoder.h"
#include "models/layers/gemma_ropes.h"
#include "models/layers/read_decoder.h"
#include "models/layers/sandwich_layer.h"
#include "models/layers/windowed_layers.h"

namespace foretell {
namespace {

// query_pre_attn_scalar to the power -1/2.
double ReadScale(const ConfigView& config) {
  const int64_t scalar = config.Whole({"query_pre_attn_scalar"}, 256);
  if (scalar > 0) return 1 / std::sqrt(static_cast<double>(scalar));
  config.Find("model/scale", Severity::kBlock, "query_pre_attn_scalar",
              fmt::format("query_pre_attn_scalar is {}", scalar),
              "scores are divided by its root; the model fails as it is built "
              "or run",
              "set query_pre_attn_scalar to head_dim");
  return 1;
}

AttentionConfig ReadGemma3Attention(const ConfigView& config, bool both_sides) {
  AttentionConfig attention = ReadHeads(
      config, {.hidden = 2304, .heads = 8, .dropout_may_be_null = true});
  attention.kv_heads = config.Size({"num_key_value_heads"}, 4);
  CheckKeyValueHeads(config, attention);
  attention.head_dim = config.Size({"head_dim"}, 256);
  attention.qkv_bias = config.Flag({"attention_bias"}, false);
  attention.output_bias = attention.qkv_bias;
  attention.scale = ReadScale(config);
  attention.qk_norm = QkNorm::kMovedHeads;
  attention.qk_norm_scale = RmsScale::kOnePlusWeight;
  attention.causal = !both_sides;
  if (attention.hidden % attention.heads != 0 && !config.config().is_loaded) {
    config.Find("model/heads", Severity::kBlock, "num_attention_heads",
                fmt::format("hidden_size {} is not a multiple of "
                            "num_attention_heads {}",
                            attention.hidden, attention.heads),
                "Gemma3TextConfig refuses the configuration as it loads",
                "choose a number of heads that divides hidden_size");
  }
  const ConfigValue* dropout = config.Raw("attention_dropout");
  if (dropout != nullptr && dropout->is_null()) {
    config.Find("model/dropout", Severity::kBlock, "attention_dropout",
                "attention_dropout is null",
                "the class takes it, but a training step fails on it",
                "set attention_dropout to 0.0");
  }
  return attention;
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  const bool both_sides =
      FlagOrNull(config, "use_bidirectional_attention", false);
  AttentionConfig attention = ReadGemma3Attention(config, both_sides);
  DecoderKeys keys = ReadDecoder(config, class_name, attention.hidden,
                                 {.vocabulary = 262208,
                                  .intermediate = 9216,
                                  .positions = 131072,
                                  .layers = 26,
                                  .ties = true,
                                  .padding = 0,
                                  .activation_key = "hidden_activation",
                                  .activation = "gelu_pytorch_tanh"});
  DecoderConfig& decoder = keys.decoder;
  decoder.norm_scale = RmsScale::kOnePlusWeight;
  decoder.scales_embeddings = true;
  attention.qk_norm_epsilon = decoder.norm_epsilon;
  CheckFields(config, {{"final_logit_softcapping", FieldKind::kFloat, true},
                       {"attn_logit_softcapping", FieldKind::kFloat, true}});
  decoder.head.logit_softcap = config.OptionalReal({"final_logit_softcapping"});
  WindowedLayers windows = ReadPatternedLayers(config, decoder.layers, 6);
  // Both ends count: the class halves the window once, as it loads.
  if (both_sides && !config.config().is_loaded && windows.window > 0) {
    windows.window = windows.window / 2 + 1;
    config.Derive("sliding_window",
                  ConfigValue::Number(std::to_string(windows.window)));
  }
  decoder.window = windows.window;
  decoder.mixes_masks = true;
  decoder.sees_both_sides = both_sides;
  GemmaRopes ropes =
      ReadGemmaRopes(config, windows.types, attention.head_dim, keys.positions);
  decoder.rope = std::move(ropes.full);
  decoder.kinds = std::move(ropes.used);
  // Left by older forms, and settings of generation.
  config.Ignore({"hidden_act", "cache_implementation", "mlp_bias",
                 "_sliding_window_pattern", "sliding_window_pattern"});

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

constexpr std::array<std::string_view, 1> kModelTypes = {"gemma3_text"};
constexpr std::array<std::string_view, 3> kClasses = {
    "Gemma3ForCausalLM", "Gemma3TextModel",
    "Gemma3TextForSequenceClassification"};

}  // namespace

extern const Family kGemma3Family = {
    .name = "gemma3",
    .title = "Gemma 3",
    .doc =
        "Gemma 2's decoder with norms of queries and keys, windows in five of "
        "six layers and a rope for each kind; EmbeddingGemma.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
