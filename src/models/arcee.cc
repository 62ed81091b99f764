// Arcee (AFM): Llama's layer with a feed-forward of two products, without a
// gate, and a squared ReLU between them.
//
// Source: transformers 5.23, models/arcee/modeling_arcee.py and
// configuration_arcee.py.
#include <array>

#include "models/family.h"
#include "models/layers/decoder.h"
#include "models/layers/plain_mlp.h"
#include "models/layers/read_decoder.h"

namespace foretell {
namespace {

AttentionConfig ReadArceeAttention(const ConfigView& config) {
  AttentionConfig attention = ReadHeads(config, {.hidden = 2560});
  attention.kv_heads =
      SizeOrDerived(config, "num_key_value_heads", attention.heads);
  attention.head_dim =
      SizeOrDerived(config, "head_dim", EvenHeadDim(config, attention));
  attention.qkv_bias = config.Flag({"attention_bias"}, false);
  attention.output_bias = attention.qkv_bias;
  CheckKeyValueHeads(config, attention);
  CheckEvenHeads(config, attention, "ArceeConfig");
  return attention;
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  const AttentionConfig attention = ReadArceeAttention(config);
  DecoderKeys keys = ReadDecoder(config, class_name, attention.hidden,
                                 {.intermediate = 18432,
                                  .positions = 4096,
                                  .norm_epsilon = 1e-5,
                                  .activation = "relu2"});
  DecoderConfig& decoder = keys.decoder;
  decoder.rope = ReadRope(config, {.default_theta = 10000,
                                   .positions = keys.positions,
                                   .head_dim = attention.head_dim});
  if (decoder.head.kind == Head::kQuestionAnswering) {
    decoder.base_name = "transformer";
  }
  const bool mlp_bias = config.Flag({"mlp_bias"}, false);
  // Checked for every class; all layers are alike whatever they say.
  ReadLayerTypes(config, decoder.layers);

  using Layer = DecoderLayer<PlainMlp>;
  auto model = std::make_unique<Decoder<Layer>>(
      root, decoder, [&](const Module& at, int64_t) {
        return Layer(at, attention, decoder.norm_epsilon,
                     [&](const Module& mlp) {
                       return PlainMlp(mlp,
                                       {.up = "up_proj",
                                        .down = "down_proj",
                                        .activation = "act_fn"},
                                       decoder.hidden, keys.intermediate,
                                       mlp_bias, keys.activation);
                     });
      });
  model->states.assign(static_cast<size_t>(decoder.layers),
                       StateOf(attention, 0));
  model->context_length = RopeContext(decoder.rope);
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"arcee"};
constexpr std::array<std::string_view, 5> kClasses = {
    "ArceeForCausalLM", "ArceeModel", "ArceeForSequenceClassification",
    "ArceeForTokenClassification", "ArceeForQuestionAnswering"};

}  // namespace

extern const Family kArceeFamily = {
    .name = "arcee",
    .title = "Arcee",
    .doc =
        "Llama's decoder with a feed-forward of two products and a squared "
        "ReLU between them.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
