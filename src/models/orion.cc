// Orion: Llama's layer with LayerNorms.
//
// transformers 5.23 has no such class. Source: "Orion-14B: Open-source
// Multilingual Large Language Models" (arXiv 2401.12246) and the published
// configurations. Nothing here is recorded against PyTorch, so no figure of it
// is exact.
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
  attention.qkv_bias = config.Flag({"attention_bias"}, false);
  attention.output_bias = attention.qkv_bias;
  return attention;
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  const AttentionConfig attention = ReadAttention(config);
  DecoderKeys keys = ReadDecoder(config, class_name, attention.hidden,
                                 {.vocabulary = 84608,
                                  .intermediate = 15360,
                                  .positions = 4096,
                                  .norm_epsilon = 1e-5});
  DecoderConfig& decoder = keys.decoder;
  decoder.rope = ReadRope(config, {.default_theta = 10000,
                                   .positions = keys.positions,
                                   .head_dim = attention.head_dim});
  DescribedConfig layer;
  layer.attention = attention;
  layer.intermediate = keys.intermediate;
  layer.activation = keys.activation;
  layer.norm_epsilon = decoder.norm_epsilon;
  config.Ignore({"pretraining_tp", "max_sequence_length"});

  using Layer = DescribedLayer<LayerNorm>;
  auto model = std::make_unique<Decoder<Layer, LayerNorm>>(
      root, decoder,
      [&](const Module& at, int64_t) { return Layer(at, layer); });
  model->states.assign(static_cast<size_t>(decoder.layers),
                       StateOf(attention, 0));
  model->context_length = RopeContext(decoder.rope);
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"orion"};
constexpr std::array<std::string_view, 3> kClasses = {
    "OrionForCausalLM", "OrionModel", "OrionForSequenceClassification"};

}  // namespace

extern const Family kOrionFamily = {
    .name = "orion",
    .title = "Orion",
    .doc = "Llama's decoder with LayerNorms; Orion-14B.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
    .described_by =
        "the Orion-14B report (arXiv 2401.12246) and published files",
};

}  // namespace foretell
