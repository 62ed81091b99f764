// Baichuan 1 and 2: Llama's layer with one product for queries, keys and
// values; the 13B has no rotary but a bias by distance.
//
// transformers 5.23 has no such class. Source: "Baichuan 2: Open Large-scale
// Language Models" (arXiv 2309.10305) and the published configurations. Nothing
// here is recorded against PyTorch, so no figure of it is exact.
#include <array>

#include "models/family.h"
#include "models/layers/check_fields.h"
#include "models/layers/decoder.h"
#include "models/layers/described_layer.h"
#include "models/layers/read_decoder.h"

namespace foretell {
namespace {

AttentionConfig ReadAttention(const ConfigView& config) {
  AttentionConfig attention = ReadHeads(config);
  attention.kv_heads =
      SizeOrDerived(config, "num_key_value_heads", attention.heads);
  CheckKeyValueHeads(config, attention);
  attention.head_dim = EvenHeadDim(config, attention);
  return attention;
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  const AttentionConfig attention = ReadAttention(config);
  DecoderKeys keys =
      ReadDecoder(config, class_name, attention.hidden,
                  {.vocabulary = 125696, .positions = 4096, .padding = 0});
  DecoderConfig& decoder = keys.decoder;
  decoder.rope = ReadRope(config, {.default_theta = 10000,
                                   .positions = keys.positions,
                                   .head_dim = attention.head_dim});
  DescribedConfig layer;
  layer.names.qkv = "W_pack";
  layer.attention = attention;
  layer.intermediate = keys.intermediate;
  layer.activation = keys.activation;
  layer.norm_epsilon = decoder.norm_epsilon;
  // The 13B's configurations have no number of positions.
  if (!config.Has("max_position_embeddings")) {
    layer.fails = "the 13B's attention bias by distance is not modelled";
  }
  config.Ignore({"model_max_length", "z_loss_weight", "gradient_checkpointing",
                 "_from_model_config"});

  using Layer = DescribedLayer<>;
  auto model = std::make_unique<Decoder<Layer>>(
      root, decoder,
      [&](const Module& at, int64_t) { return Layer(at, layer); });
  model->states.assign(static_cast<size_t>(decoder.layers),
                       StateOf(attention, 0));
  model->context_length = RopeContext(decoder.rope);
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"baichuan"};
constexpr std::array<std::string_view, 3> kClasses = {
    "BaichuanForCausalLM", "BaichuanModel", "BaiChuanForCausalLM"};

}  // namespace

extern const Family kBaichuanFamily = {
    .name = "baichuan",
    .title = "Baichuan",
    .doc =
        "Llama's decoder with one product for queries, keys and values; "
        "Baichuan "
        "and Baichuan 2.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
    .described_by =
        "the Baichuan 2 report (arXiv 2309.10305) and published files",
};

}  // namespace foretell
