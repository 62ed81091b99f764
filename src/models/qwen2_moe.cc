// Qwen2-MoE: Qwen2's attention, and experts beside a feed-forward that serves
// every token, in all layers or in every so many.
//
// Source: transformers 5.23, models/qwen2_moe/modeling_qwen2_moe.py and
// configuration_qwen2_moe.py.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "models/family.h"
#include "models/layers/check_fields.h"
#include "models/layers/decoder.h"
#include "models/layers/experts.h"
#include "models/layers/read_decoder.h"
#include "models/layers/read_experts.h"
#include "models/layers/shared_expert_mlp.h"
#include "models/layers/windowed_layers.h"

namespace foretell {
namespace {

AttentionConfig ReadAttention(const ConfigView& config) {
  AttentionConfig attention = ReadHeads(config, {.hidden = 2048, .heads = 16});
  attention.kv_heads = config.Size({"num_key_value_heads"}, 16);
  CheckKeyValueHeads(config, attention);
  attention.head_dim = UndeclaredHeadDim(config, attention);
  attention.qkv_bias = config.Flag({"qkv_bias"}, true);
  return attention;
}

ExpertsConfig ReadExperts(const ConfigView& config, const DecoderKeys& keys) {
  ExpertsConfig experts;
  experts.hidden = keys.decoder.hidden;
  experts.intermediate = config.Size({"moe_intermediate_size"}, 1408);
  experts.activation = keys.activation;
  // None or fewer: every layer is dense.
  experts.experts = std::max<int64_t>(0, config.Whole({"num_experts"}, 60));
  experts.per_token = config.SizeOrZero({"num_experts_per_tok"}, 4);
  experts.normalizes = config.Flag({"norm_topk_prob"}, false);
  experts.softmax_casts = true;
  CheckExpertsPerToken(config, experts);
  experts.keeps_logits = ReadKeepsLogits(config);
  return experts;
}

// Both masks are built whichever layers there are, so a null window fails.
void RefuseNullWindow(const ConfigView& config) {
  config.Find("model/window", Severity::kBlock, "sliding_window",
              "use_sliding_window is true, and sliding_window null",
              "the forward fails as it builds the mask of the window",
              "state sliding_window, or set use_sliding_window to false");
}

// Every other layer below max_window_layers has a window, where
// use_sliding_window says that any has.
WindowedLayers ReadWindows(const ConfigView& config, int64_t layers) {
  WindowedLayers out;
  const bool is_used = config.Flag({"use_sliding_window"}, false);
  const int64_t first_without = config.Whole({"max_window_layers"}, 28);
  const auto stated = config.Raw("sliding_window") == nullptr
                          ? config.SizeOrZero({"sliding_window"}, 4096)
                          : config.OptionalInteger({"sliding_window"});
  // Once loaded, the window alone decides.
  if (is_used || config.config().is_loaded) {
    out.window = std::max<int64_t>(0, stated.value_or(0));
    if (!stated) RefuseNullWindow(config);
  } else {
    config.Derive("sliding_window", ConfigValue::Number("0"));
  }
  out.types = ReadLayerTypes(config, layers);
  if (!config.Has("layer_types")) {
    std::vector<ConfigValue> items;
    for (int64_t layer = 0; layer < layers; ++layer) {
      const bool slides = is_used && layer % 2 == 0 && layer < first_without;
      out.types.emplace_back(slides ? "sliding_attention" : "full_attention");
      items.push_back(ConfigValue::String(out.types.back()));
    }
    config.Derive("layer_types", ConfigValue::Array(std::move(items)));
  }
  out.any_slides =
      std::ranges::find(out.types, "sliding_attention") != out.types.end();
  if (out.any_slides && out.window == 0) {
    config.Find("model/window", Severity::kWarn, "sliding_window",
                "layer_types names sliding layers, but their window is 0",
                "no token sees any other there; such a forward is not modelled",
                "set sliding_window, and use_sliding_window to true");
  }
  return out;
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  AttentionConfig attention = ReadAttention(config);
  DecoderKeys keys = ReadDecoder(config, class_name, attention.hidden,
                                 {.vocabulary = 151936,
                                  .intermediate = 5632,
                                  .positions = 32768,
                                  .layers = 24});
  DecoderConfig& decoder = keys.decoder;
  const WindowedLayers windows = ReadWindows(config, decoder.layers);
  decoder.window = windows.window;
  decoder.mixes_masks = true;
  decoder.masks_empty_window = true;
  decoder.rope =
      ReadRope(config, {.positions = keys.positions,
                        .head_dim = attention.head_dim,
                        .head_dim_is_held = config.Raw("head_dim") != nullptr,
                        .layer_types = windows.types});
  const ExpertsConfig experts = ReadExperts(config, keys);
  const int64_t shared = config.Size({"shared_expert_intermediate_size"}, 5632);
  const SparseLayers sparse = ReadSparseLayers(config, decoder.layers, experts);
  // Other classes' biases.
  config.Ignore({"attention_bias", "mlp_bias"});

  using Mlp = SparseOrDense<SharedExpertMlp>;
  using Layer = DecoderLayer<Mlp>;
  auto model = std::make_unique<Decoder<Layer>>(
      root, decoder, [&](const Module& at, int64_t index) {
        attention.window = windows.WindowOf(index);
        return Layer(
            at, attention, decoder.norm_epsilon, [&](const Module& mlp) {
              Mlp out;
              if (sparse.Contains(index)) {
                out.sparse.emplace(mlp, experts, shared);
              } else {
                out.dense.emplace(mlp, decoder.hidden, keys.intermediate, false,
                                  keys.activation);
              }
              return out;
            });
      });
  if (experts.keeps_logits && decoder.head.kind == Head::kCausalLm) {
    model->FinishWith(BalancedLoss(experts));
  }
  for (int64_t layer = 0; layer < decoder.layers; ++layer) {
    model->states.push_back(StateOf(attention, windows.WindowOf(layer)));
  }
  model->context_length = RopeContext(decoder.rope);
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"qwen2_moe"};
constexpr std::array<std::string_view, 5> kClasses = {
    "Qwen2MoeForCausalLM", "Qwen2MoeModel", "Qwen2MoeForSequenceClassification",
    "Qwen2MoeForTokenClassification", "Qwen2MoeForQuestionAnswering"};

}  // namespace

extern const Family kQwen2MoeFamily = {
    .name = "qwen2_moe",
    .title = "Qwen2-MoE",
    .doc =
        "Qwen2's attention, and experts beside a feed-forward that every token "
        "passes behind a gate of its own.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
