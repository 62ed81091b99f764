// Mixtral: Mistral's attention, and a feed-forward of experts of which each
// token meets a few.
//
// Source: transformers 5.23, models/mixtral/modeling_mixtral.py and
// configuration_mixtral.py.
#include <array>

#include "models/family.h"
#include "models/layers/check_fields.h"
#include "models/layers/decoder.h"
#include "models/layers/experts.h"
#include "models/layers/read_decoder.h"
#include "models/layers/read_experts.h"

namespace foretell {
namespace {

// The class keeps an absent head_dim as null, and its layers work it out; a
// stated zero is as good as none.
bool HeadDimIsHeld(const ConfigView& config) {
  const ConfigValue* stated = config.Raw("head_dim");
  return stated != nullptr && !stated->is_null() && stated->AsInteger() != 0;
}

AttentionConfig ReadMixtralAttention(const ConfigView& config) {
  AttentionConfig attention = ReadHeads(config);
  attention.kv_heads = config.Size({"num_key_value_heads"}, 8);
  CheckKeyValueHeads(config, attention);
  attention.head_dim = HeadDimIsHeld(config) ? config.Size({"head_dim"}, 128)
                                             : EvenHeadDim(config, attention);
  return attention;
}

ExpertsConfig ReadExperts(const ConfigView& config, const DecoderKeys& keys) {
  ExpertsConfig experts;
  experts.hidden = keys.decoder.hidden;
  experts.intermediate = keys.intermediate;
  experts.activation = keys.activation;
  experts.experts = config.SizeOrZero({"num_experts", "num_local_experts"}, 8);
  experts.per_token = config.SizeOrZero({"num_experts_per_tok"}, 2);
  experts.jitter = config.Real({"router_jitter_noise"}, 0);
  CheckExpertsPerToken(config, experts);
  experts.keeps_logits = config.Flag({"output_router_logits"}, false);
  // A factor of the loss.
  CheckFields(config, {{"router_aux_loss_coef", FieldKind::kFloat},
                       {"router_jitter_noise", FieldKind::kFloat}});
  return experts;
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  AttentionConfig attention = ReadMixtralAttention(config);
  DecoderKeys keys = ReadDecoder(
      config, class_name, attention.hidden,
      {.intermediate = 14336, .positions = 131072, .norm_epsilon = 1e-5});
  DecoderConfig& decoder = keys.decoder;
  decoder.rope = ReadRope(config, {.default_theta = 1e6,
                                   .positions = keys.positions,
                                   .head_dim = attention.head_dim,
                                   .head_dim_is_held = HeadDimIsHeld(config),
                                   .head_dim_is_null = !HeadDimIsHeld(config)});
  decoder.window = config.OptionalSize({"sliding_window"}).value_or(0);
  attention.window = decoder.window;
  const ExpertsConfig experts = ReadExperts(config, keys);
  ReadLayerTypes(config, decoder.layers);
  // The class has no biases and no such attributes.
  config.Ignore({"attention_bias", "mlp_bias"});

  using Layer = DecoderLayer<SparseMlp>;
  auto model = std::make_unique<Decoder<Layer>>(
      root, decoder, [&](const Module& at, int64_t) {
        return Layer(
            at, attention, decoder.norm_epsilon,
            [&](const Module& mlp) { return SparseMlp(mlp, experts); });
      });
  if (experts.keeps_logits && decoder.head.kind == Head::kCausalLm) {
    model->FinishWith(BalancedLoss(experts));
  }
  model->states.assign(static_cast<size_t>(decoder.layers),
                       StateOf(attention, decoder.window));
  model->context_length = RopeContext(decoder.rope);
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"mixtral"};
constexpr std::array<std::string_view, 5> kClasses = {
    "MixtralForCausalLM", "MixtralModel", "MixtralForSequenceClassification",
    "MixtralForTokenClassification", "MixtralForQuestionAnswering"};

}  // namespace

extern const Family kMixtralFamily = {
    .name = "mixtral",
    .title = "Mixtral",
    .doc =
        "Mistral's attention with a feed-forward of experts; a router sends "
        "each token to a few of them.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
