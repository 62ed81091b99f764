// ERNIE 4.5 (dense): Llama's layer with neighbouring dims turned by float32
// angles, and a head shared with the embeddings.
//
// Source: transformers 5.23, models/ernie4_5/modeling_ernie4_5.py and
// configuration_ernie4_5.py.
#include <array>

#include "models/family.h"
#include "models/layers/check_fields.h"
#include "models/layers/decoder.h"
#include "models/layers/mlp.h"
#include "models/layers/pair_rotary.h"
#include "models/layers/read_decoder.h"

namespace foretell {
namespace {

AttentionConfig ReadErnieAttention(const ConfigView& config) {
  AttentionConfig attention;
  attention.hidden = config.Size({"hidden_size"}, 1024);
  attention.heads = config.Size({"num_attention_heads"}, 16);
  attention.kv_heads =
      config.Raw("num_key_value_heads") == nullptr
          ? config.Size({"num_key_value_heads"}, 2)
          : SizeOrDerived(config, "num_key_value_heads", attention.heads);
  CheckKeyValueHeads(config, attention);
  attention.head_dim =
      config.Raw("head_dim") == nullptr
          ? config.Size({"head_dim"}, 128)
          : SizeOrDerived(config, "head_dim", EvenHeadDim(config, attention));
  attention.qkv_bias =
      config.Has("use_bias") && config.Flag({"use_bias"}, false);
  attention.output_bias = attention.qkv_bias;
  attention.turn = ApplyWidePairRotary;
  config.Ignore({"use_bias"});
  return attention;
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  const AttentionConfig attention = ReadErnieAttention(config);
  DecoderKeys keys = ReadDecoder(config, class_name, attention.hidden,
                                 {.vocabulary = 103424,
                                  .intermediate = 3072,
                                  .positions = 131072,
                                  .norm_epsilon = 1e-5,
                                  .layers = 18,
                                  .ties = true,
                                  .padding = 0});
  DecoderConfig& decoder = keys.decoder;
  decoder.rope = ReadRope(config, {.default_theta = 500000,
                                   .positions = keys.positions,
                                   .head_dim = attention.head_dim});
  decoder.rope.stays_wide = true;
  // Checked for every class; all layers attend fully whatever they say.
  ReadLayerTypes(config, decoder.layers);
  // The class drops nothing, and has no other rotary or table.
  config.Ignore({"attention_dropout", "attention_probs_dropout_prob",
                 "hidden_dropout_prob", "compression_ratio",
                 "weight_share_add_bias", "use_flash_attention", "use_rmsnorm",
                 "rope_reorder", "fuse_rope"});

  using Layer = DecoderLayer<GatedMlp>;
  auto model = std::make_unique<Decoder<Layer>>(
      root, decoder, [&](const Module& at, int64_t) {
        return Layer(at, attention, decoder.norm_epsilon,
                     [&](const Module& mlp) {
                       return GatedMlp(mlp, decoder.hidden, keys.intermediate,
                                       attention.qkv_bias, keys.activation);
                     });
      });
  model->states.assign(static_cast<size_t>(decoder.layers),
                       StateOf(attention, 0));
  model->context_length = RopeContext(decoder.rope);
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"ernie4_5"};
constexpr std::array<std::string_view, 2> kClasses = {"Ernie4_5ForCausalLM",
                                                      "Ernie4_5Model"};

}  // namespace

extern const Family kErnie45Family = {
    .name = "ernie4_5",
    .title = "ERNIE 4.5",
    .doc =
        "Llama's decoder with neighbouring dims of a head turned in float32; "
        "the dense ERNIE 4.5.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
