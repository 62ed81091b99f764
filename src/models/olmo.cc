// OLMo: Llama's layer behind layer norms that have no parameters, turned in
// float32, with projections that may be held within a range.
//
// Source: transformers 5.23, models/olmo/modeling_olmo.py and
// configuration_olmo.py.
#include <array>

#include "models/family.h"
#include "models/layers/check_fields.h"
#include "models/layers/decoder.h"
#include "models/layers/mlp.h"
#include "models/layers/read_decoder.h"

namespace foretell {
namespace {

AttentionConfig ReadOlmoAttention(const ConfigView& config) {
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
  CheckFields(config, {{"clip_qkv", FieldKind::kFloat, true}});
  attention.clip = config.OptionalReal({"clip_qkv"});
  attention.projects_first = true;
  attention.turn = ApplyWideRotary;
  return attention;
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  const AttentionConfig attention = ReadOlmoAttention(config);
  DecoderKeys keys =
      ReadDecoder(config, class_name, attention.hidden,
                  {.vocabulary = 50304, .padding = 1, .norm_key = ""});
  DecoderConfig& decoder = keys.decoder;
  decoder.norm_epsilon = 1e-5;
  decoder.rope =
      ReadRope(config, {.default_theta = 10000,
                        .positions = keys.positions,
                        .head_dim = attention.head_dim,
                        .head_dim_is_held = config.Raw("head_dim") != nullptr});
  decoder.rope.stays_wide = true;
  // Checked for every class; all layers are alike whatever they say.
  ReadLayerTypes(config, decoder.layers);
  // Split products for old tensor-parallel runs, biases and an epsilon that
  // the class lacks.
  config.Ignore({"pretraining_tp", "mlp_bias", "rms_norm_eps"});

  using Layer = DecoderLayer<GatedMlp, PlainLayerNorm>;
  auto model = std::make_unique<Decoder<Layer, PlainLayerNorm>>(
      root, decoder, [&](const Module& at, int64_t) {
        return Layer(at, attention, decoder.norm_epsilon,
                     [&](const Module& mlp) {
                       return GatedMlp(mlp, decoder.hidden, keys.intermediate,
                                       false, keys.activation);
                     });
      });
  model->states.assign(static_cast<size_t>(decoder.layers),
                       StateOf(attention, 0));
  model->context_length = RopeContext(decoder.rope);
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"olmo"};
constexpr std::array<std::string_view, 3> kClasses = {
    "OlmoForCausalLM", "OlmoModel", "OlmoForSequenceClassification"};

}  // namespace

extern const Family kOlmoFamily = {
    .name = "olmo",
    .title = "OLMo",
    .doc =
        "Llama's decoder behind layer norms without parameters, turned in "
        "float32; projections may be held within a range.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
