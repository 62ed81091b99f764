// PhiMoE: Llama's attention between LayerNorms, and experts of which a sparse
// mixer draws two.
//
// Source: transformers 5.23, models/phimoe/modeling_phimoe.py and
// configuration_phimoe.py.
#include <array>

#include "models/family.h"
#include "models/layers/check_fields.h"
#include "models/layers/decoder.h"
#include "models/layers/norm.h"
#include "models/layers/read_decoder.h"
#include "models/layers/read_experts.h"
#include "models/layers/sparse_mixer.h"

namespace foretell {
namespace {

AttentionConfig ReadAttention(const ConfigView& config) {
  AttentionConfig attention = ReadHeads(config);
  attention.kv_heads = config.Size({"num_key_value_heads"}, 8);
  CheckKeyValueHeads(config, attention);
  attention.head_dim = UndeclaredHeadDim(config, attention);
  attention.qkv_bias = config.Flag({"attention_bias"}, false);
  attention.output_bias = attention.qkv_bias;
  return attention;
}

PhimoeKeys ReadExperts(const ConfigView& config, const DecoderKeys& keys) {
  PhimoeKeys out;
  ExpertsConfig& experts = out.experts;
  experts.hidden = keys.decoder.hidden;
  experts.intermediate = keys.intermediate;
  experts.activation = keys.activation;
  experts.experts = config.SizeOrZero({"num_local_experts"}, 16);
  experts.per_token = config.SizeOrZero({"num_experts_per_tok"}, 2);
  CheckExpertsPerToken(config, experts);
  experts.keeps_logits = ReadKeepsLogits(config);
  out.nearness = config.Real({"router_jitter_noise"}, 0.01);
  out.input_noise = config.Real({"input_jitter_noise"}, 0);
  CheckFields(config, {{"router_jitter_noise", FieldKind::kFloat},
                       {"input_jitter_noise", FieldKind::kFloat}});
  return out;
}

// Other types scale by numbers of their own, which the file must state.
void CheckScales(const ConfigView& config, const RopeConfig& rope) {
  const ConfigView nested = RopeSettings(config);
  nested.Ignore({"short_mscale", "long_mscale"});
  if (rope.type == "default") return;
  for (const std::string_view key : {"short_mscale", "long_mscale"}) {
    if (nested.Has(key) && nested.Raw(key)->is_number()) continue;
    nested.Find("model/rope", Severity::kBlock, key,
                std::string(key) + " is no number",
                "the library refuses the configuration",
                "state it, or choose the default rope");
  }
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  AttentionConfig attention = ReadAttention(config);
  DecoderKeys keys = ReadDecoder(config, class_name, attention.hidden,
                                 {.vocabulary = 32064,
                                  .intermediate = 6400,
                                  .positions = 131072,
                                  .norm_epsilon = 1e-5});
  DecoderConfig& decoder = keys.decoder;
  decoder.rope =
      ReadRope(config, {.default_theta = 1e6,
                        .positions = keys.positions,
                        .head_dim = attention.head_dim,
                        .head_dim_is_held = config.Raw("head_dim") != nullptr});
  CheckScales(config, decoder.rope);
  decoder.rope.remade_of = attention.head_dim;
  decoder.window = config.OptionalSize({"sliding_window"}).value_or(0);
  attention.window = decoder.window;
  decoder.head.lm_bias = config.Flag({"lm_head_bias"}, false);
  PhimoeKeys experts = ReadExperts(config, keys);
  const ExpertsConfig stated = experts.experts;
  // The mixer draws two whatever is stated.
  experts.experts.per_token = 2;
  ReadLayerTypes(config, decoder.layers);
  config.Ignore({"hidden_dropout", "expert_dropout", "mlp_bias"});

  using Layer = DecoderLayer<PhimoeMlp, LayerNorm>;
  auto model = std::make_unique<Decoder<Layer, LayerNorm>>(
      root, decoder, [&](const Module& at, int64_t) {
        return Layer(
            at, attention, decoder.norm_epsilon,
            [&](const Module& mlp) { return PhimoeMlp(mlp, experts); });
      });
  if (stated.keeps_logits && decoder.head.kind == Head::kCausalLm) {
    model->FinishWith(BalancedLoss(stated));
  }
  model->states.assign(static_cast<size_t>(decoder.layers),
                       StateOf(attention, decoder.window));
  model->context_length = RopeContext(decoder.rope);
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"phimoe"};
constexpr std::array<std::string_view, 3> kClasses = {
    "PhimoeForCausalLM", "PhimoeModel", "PhimoeForSequenceClassification"};
// The code beside some weights spells it so.
constexpr std::array<std::pair<std::string_view, std::string_view>, 1>
    kOldNames = {{{"PhiMoEForCausalLM", "PhimoeForCausalLM"}}};

}  // namespace

extern const Family kPhimoeFamily = {
    .name = "phimoe",
    .title = "PhiMoE",
    .doc =
        "Llama's attention between LayerNorms, and experts of which a sparse "
        "mixer draws two for each token.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = kOldNames,
    .build = Build,
};

}  // namespace foretell
