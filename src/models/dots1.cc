// dots.llm1: Qwen3's attention, and from some layer on experts chosen by groups
// beside shared ones.
//
// Source: transformers 5.23, models/dots1/modeling_dots1.py and
// configuration_dots1.py.
#include <array>

#include "models/family.h"
#include "models/layers/check_fields.h"
#include "models/layers/decoder.h"
#include "models/layers/group_router.h"
#include "models/layers/read_decoder.h"
#include "models/layers/windowed_layers.h"

namespace foretell {
namespace {

AttentionConfig ReadAttention(const ConfigView& config) {
  AttentionConfig attention = ReadHeads(
      config, {.hidden = 4608, .heads = 32, .dropout_may_be_null = true});
  attention.kv_heads =
      config.Has("num_key_value_heads") ||
              config.Raw("num_key_value_heads") == nullptr
          ? config.Size({"num_key_value_heads"}, 32)
          : SizeOrDerived(config, "num_key_value_heads", attention.heads);
  CheckKeyValueHeads(config, attention);
  attention.head_dim = UndeclaredHeadDim(config, attention);
  attention.qkv_bias = config.Flag({"attention_bias"}, false);
  attention.output_bias = attention.qkv_bias;
  return attention;
}

// The class's defaults are null, with which no layer of experts is built.
void RequireExperts(const ConfigView& config) {
  const bool has_experts =
      config.Has("n_routed_experts") || config.Has("num_local_experts");
  if (!has_experts) {
    config.Problem("n_routed_experts", "is not stated, and null by default",
                   "state it, or make every layer dense");
  }
  for (const std::string_view key :
       {"n_shared_experts", "num_experts_per_tok"}) {
    if (config.Has(key)) continue;
    config.Problem(key, "is not stated, and null by default",
                   "state it, or make every layer dense");
  }
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  AttentionConfig attention = ReadAttention(config);
  DecoderKeys keys =
      ReadDecoder(config, class_name, attention.hidden,
                  {.vocabulary = 152064, .intermediate = 10944, .layers = 62});
  DecoderConfig& decoder = keys.decoder;
  attention.qk_norm_epsilon = decoder.norm_epsilon;
  const WindowedLayers windows =
      ReadLateWindows(config, decoder.layers, {.window = 4096, .first = 62});
  decoder.window = windows.any_slides ? windows.window : 0;
  decoder.mixes_masks = windows.Mixes();
  decoder.rope =
      ReadRope(config, {.positions = keys.positions,
                        .head_dim = attention.head_dim,
                        .head_dim_is_held = config.Raw("head_dim") != nullptr,
                        .layer_types = windows.types});
  const int64_t dense = config.Whole({"first_k_dense_replace"}, 0);
  if (dense < decoder.layers) RequireExperts(config);
  const SharedExpertsKeys experts = ReadSharedExperts(
      config, "num_local_experts", decoder.hidden, keys.activation,
      {.intermediate = 1408,
       .groups = 1,
       .kept = 1,
       .scale = 1,
       .normalizes = false,
       .normalizes_may_be_null = true});
  // Settings of the published code that the library's class does not have.
  config.Ignore({"moe_layer_freq", "pretraining_tp", "scoring_func",
                 "use_sliding_window", "mlp_bias"});

  using Mlp = SharedOrDenseMlp<>;
  using Layer = DecoderLayer<Mlp>;
  auto model = std::make_unique<Decoder<Layer>>(
      root, decoder, [&](const Module& at, int64_t index) {
        attention.window = windows.WindowOf(index);
        return Layer(
            at, attention, decoder.norm_epsilon, [&](const Module& mlp) {
              return Mlp(mlp, index >= dense, experts, keys.intermediate);
            });
      });
  for (int64_t layer = 0; layer < decoder.layers; ++layer) {
    model->states.push_back(StateOf(attention, windows.WindowOf(layer)));
  }
  model->context_length = RopeContext(decoder.rope);
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"dots1"};
constexpr std::array<std::string_view, 2> kClasses = {"Dots1ForCausalLM",
                                                      "Dots1Model"};

}  // namespace

extern const Family kDots1Family = {
    .name = "dots1",
    .title = "dots.llm1",
    .doc =
        "Qwen3's attention, and from some layer on many small experts beside "
        "shared ones.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
