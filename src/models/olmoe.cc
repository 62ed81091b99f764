// OLMoE: attention whose queries and keys are normed as a whole, and a
// feed-forward of many small experts in every layer.
//
// Source: transformers 5.23, models/olmoe/modeling_olmoe.py and
// configuration_olmoe.py.
#include <array>

#include "models/family.h"
#include "models/layers/check_fields.h"
#include "models/layers/decoder.h"
#include "models/layers/experts.h"
#include "models/layers/read_decoder.h"
#include "models/layers/read_experts.h"

namespace foretell {
namespace {

AttentionConfig ReadAttention(const ConfigView& config) {
  AttentionConfig attention = ReadHeads(config, {.hidden = 2048, .heads = 16});
  attention.kv_heads =
      SizeOrDerived(config, "num_key_value_heads", attention.heads);
  CheckKeyValueHeads(config, attention);
  attention.head_dim = UndeclaredHeadDim(config, attention);
  attention.qkv_bias = config.Flag({"attention_bias"}, false);
  attention.output_bias = attention.qkv_bias;
  attention.qk_norm = QkNorm::kWhole;
  attention.projects_first = true;
  attention.clip = config.OptionalReal({"clip_qkv"});
  CheckFields(config, {{"clip_qkv", FieldKind::kFloat, true}});
  return attention;
}

// The norms' widths follow from the hidden size, not from head_dim: one of
// another width fits them no more.
void CheckNormWidth(const ConfigView& config,
                    const AttentionConfig& attention) {
  if (attention.head_dim * attention.heads == attention.hidden) return;
  config.Find("model/heads", Severity::kBlock, "num_attention_heads",
              "the heads' dims do not add up to hidden_size",
              "the class norms queries as wide as hidden_size; the forward "
              "fails on the shapes",
              "choose heads that divide hidden_size, and no head_dim");
}

ExpertsConfig ReadExperts(const ConfigView& config, const DecoderKeys& keys) {
  ExpertsConfig experts;
  experts.hidden = keys.decoder.hidden;
  experts.intermediate = keys.intermediate;
  experts.activation = keys.activation;
  experts.experts = config.SizeOrZero({"num_local_experts", "num_experts"}, 64);
  experts.per_token = config.SizeOrZero({"num_experts_per_tok"}, 8);
  experts.normalizes = config.Flag({"norm_topk_prob"}, false);
  experts.softmax_casts = true;
  CheckExpertsPerToken(config, experts);
  experts.keeps_logits = ReadKeepsLogits(config);
  return experts;
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  AttentionConfig attention = ReadAttention(config);
  CheckNormWidth(config, attention);
  DecoderKeys keys = ReadDecoder(config, class_name, attention.hidden,
                                 {.vocabulary = 50304,
                                  .intermediate = 2048,
                                  .positions = 4096,
                                  .norm_epsilon = 1e-5,
                                  .layers = 16,
                                  .padding = 1});
  DecoderConfig& decoder = keys.decoder;
  attention.qk_norm_epsilon = decoder.norm_epsilon;
  decoder.rope =
      ReadRope(config, {.positions = keys.positions,
                        .head_dim = attention.head_dim,
                        .head_dim_is_held = config.Raw("head_dim") != nullptr});
  const ExpertsConfig experts = ReadExperts(config, keys);
  config.Ignore({"mlp_bias"});  // Llama's

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
                       StateOf(attention, 0));
  model->context_length = RopeContext(decoder.rope);
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"olmoe"};
constexpr std::array<std::string_view, 2> kClasses = {"OlmoeForCausalLM",
                                                      "OlmoeModel"};

}  // namespace

extern const Family kOlmoeFamily = {
    .name = "olmoe",
    .title = "OLMoE",
    .doc =
        "A decoder whose queries and keys are normed across all heads, with a "
        "feed-forward of many small experts in every layer.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
