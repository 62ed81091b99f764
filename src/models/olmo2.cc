// OLMo 2: Llama's branches before their norms, and norms over all heads of
// queries and of keys.
//
// Source: transformers 5.23, models/olmo2/modeling_olmo2.py and
// configuration_olmo2.py.
#include <array>

#include "models/family.h"
#include "models/layers/decoder.h"
#include "models/layers/post_norm_layer.h"
#include "models/layers/read_decoder.h"

namespace foretell {
namespace {

AttentionConfig ReadOlmo2Attention(const ConfigView& config) {
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

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  AttentionConfig attention = ReadOlmo2Attention(config);
  DecoderKeys keys =
      ReadDecoder(config, class_name, attention.hidden,
                  {.vocabulary = 50304, .norm_epsilon = 1e-5, .padding = 1});
  DecoderConfig& decoder = keys.decoder;
  attention.qk_norm_epsilon = decoder.norm_epsilon;
  decoder.norm_scale = RmsScale::kWeightInFloat;
  decoder.rope =
      ReadRope(config, {.default_theta = 10000,
                        .positions = keys.positions,
                        .head_dim = attention.head_dim,
                        .head_dim_is_held = config.Raw("head_dim") != nullptr});
  decoder.rope.stays_wide = true;
  // Checked for every class; all layers are alike whatever they say.
  ReadLayerTypes(config, decoder.layers);
  // OLMo's range of projections, split products and biases: not in this class.
  config.Ignore({"clip_qkv", "pretraining_tp", "mlp_bias"});

  auto model = std::make_unique<Decoder<PostNormLayer>>(
      root, decoder, [&](const Module& at, int64_t) {
        return PostNormLayer(at, attention, decoder.norm_epsilon,
                             decoder.norm_scale, keys.intermediate,
                             keys.activation);
      });
  model->states.assign(static_cast<size_t>(decoder.layers),
                       StateOf(attention, 0));
  model->context_length = RopeContext(decoder.rope);
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"olmo2"};
constexpr std::array<std::string_view, 3> kClasses = {
    "Olmo2ForCausalLM", "Olmo2Model", "Olmo2ForSequenceClassification"};

}  // namespace

extern const Family kOlmo2Family = {
    .name = "olmo2",
    .title = "OLMo 2",
    .doc =
        "A decoder whose attention and feed-forward stand before their norms, "
        "with norms over all heads of queries and keys.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .oldest_library = "4.57",
    .build = Build,
};

}  // namespace foretell
