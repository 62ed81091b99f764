// Seed-OSS: Llama's layer with biases on queries, keys and values and dropout
// behind both branches.
//
// Source: transformers 5.23, models/seed_oss/modeling_seed_oss.py and
// configuration_seed_oss.py.
#include <array>

#include "models/family.h"
#include "models/layers/check_fields.h"
#include "models/layers/decoder.h"
#include "models/layers/dropout.h"
#include "models/layers/mlp.h"
#include "models/layers/read_decoder.h"

namespace foretell {
namespace {

// Llama's feed-forward, its result dropped inside the same module.
struct SeedOssMlp : GatedMlp {
  SeedOssMlp(const Module& at, const DecoderKeys& keys, bool bias,
             double residual_dropout)
      : GatedMlp(at, keys.decoder.hidden, keys.intermediate, bias,
                 keys.activation),
        dropout(residual_dropout) {}

  Tensor Forward(const Tensor& x) const {
    Tensor out = GatedMlp::Forward(x);
    const Scope scope = module.Enter();
    out = ApplyDropout(out, dropout);
    return out;
  }

  double dropout;
};

AttentionConfig ReadSeedOssAttention(const ConfigView& config) {
  AttentionConfig attention = ReadHeads(config, {.heads = 80, .dropout = 0.1});
  attention.kv_heads =
      config.Raw("num_key_value_heads") == nullptr
          ? config.Size({"num_key_value_heads"}, 8)
          : SizeOrDerived(config, "num_key_value_heads", attention.heads);
  CheckKeyValueHeads(config, attention);
  attention.head_dim =
      config.Raw("head_dim") == nullptr
          ? config.Size({"head_dim"}, 128)
          : SizeOrDerived(config, "head_dim", EvenHeadDim(config, attention));
  attention.qkv_bias = config.Flag({"attention_bias"}, true);
  attention.output_bias = config.Flag({"attention_out_bias"}, false);
  attention.output_dropout = ReadDropout(config, "residual_dropout", 0.1);
  return attention;
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  const AttentionConfig attention = ReadSeedOssAttention(config);
  DecoderKeys keys = ReadDecoder(config, class_name, attention.hidden,
                                 {.vocabulary = 155136,
                                  .intermediate = 27648,
                                  .positions = 524288,
                                  .layers = 64,
                                  .padding = 1});
  DecoderConfig& decoder = keys.decoder;
  decoder.rope = ReadRope(config, {.default_theta = 10000,
                                   .positions = keys.positions,
                                   .head_dim = attention.head_dim});
  const bool mlp_bias = config.Flag({"mlp_bias"}, false);
  // Checked for every class; all layers are alike whatever they say.
  ReadLayerTypes(config, decoder.layers);
  // A field of the class that nothing looks at.
  CheckFields(config, {{"pretraining_tp", FieldKind::kWhole}});
  if (decoder.head.kind == Head::kQuestionAnswering) {
    decoder.base_name = "transformer";
  }

  using Layer = DecoderLayer<SeedOssMlp>;
  auto model = std::make_unique<Decoder<Layer>>(
      root, decoder, [&](const Module& at, int64_t) {
        return Layer(
            at, attention, decoder.norm_epsilon, [&](const Module& mlp) {
              return SeedOssMlp(mlp, keys, mlp_bias, attention.output_dropout);
            });
      });
  model->states.assign(static_cast<size_t>(decoder.layers),
                       StateOf(attention, 0));
  model->context_length = RopeContext(decoder.rope);
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"seed_oss"};
constexpr std::array<std::string_view, 5> kClasses = {
    "SeedOssForCausalLM", "SeedOssModel", "SeedOssForSequenceClassification",
    "SeedOssForTokenClassification", "SeedOssForQuestionAnswering"};

}  // namespace

extern const Family kSeedOssFamily = {
    .name = "seed_oss",
    .title = "Seed-OSS",
    .doc =
        "Llama's decoder with biases on queries, keys and values and dropout "
        "behind attention and feed-forward.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
