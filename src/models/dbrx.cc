// DBRX: one product for queries, keys and values, held within limits, and
// experts stored as rows of three tables.
//
// Source: transformers 5.23, models/dbrx/modeling_dbrx.py and
// configuration_dbrx.py.
// Does not model: which expert gets how many tokens, which depends on the data.
#include <array>
#include <string>

#include "models/family.h"
#include "models/layers/activation.h"
#include "models/layers/check_fields.h"
#include "models/layers/dbrx_layer.h"
#include "models/layers/decoder.h"
#include "models/layers/read_decoder.h"
#include "models/layers/read_experts.h"
#include "models/layers/rope.h"

namespace foretell {
namespace {

struct DbrxKeys {
  AttentionConfig attention;
  DbrxExpertsConfig experts;
  int64_t layers = 0;
};

// The class reads a theta there that it does not use, and fails without one.
void CheckTheta(const ConfigView& config, const ConfigView& nested) {
  const bool has_theta =
      nested.object() != nullptr && nested.Raw("rope_theta") != nullptr;
  nested.Ignore({"rope_theta", "model_type"});
  if (has_theta) return;
  config.Find("model/rope", Severity::kBlock, "attn_config",
              "attn_config.rope_theta is not stated",
              "the class fails as it builds a layer",
              "\"attn_config\": {\"rope_theta\": 500000}");
}

void ReadAttention(const ConfigView& config, DbrxKeys& keys) {
  AttentionConfig& attention = keys.attention;
  attention.hidden = config.Size({"hidden_size", "d_model"}, 2048);
  attention.heads = config.Size({"num_attention_heads", "n_heads"}, 16);
  attention.head_dim = EvenHeadDim(config, attention);
  const ConfigView nested = config.Nested("attn_config");
  attention.kv_heads = nested.Size({"kv_n_heads"}, 1);
  attention.dropout = nested.Real({"attn_pdrop"}, 0);
  attention.clip = nested.OptionalReal({"clip_qkv"});
  CheckKeyValueHeads(config, attention);
  if (keys.layers > 0) CheckTheta(config, nested);
}

void ReadExperts(const ConfigView& config, DbrxKeys& keys) {
  const ConfigView nested = config.Nested("ffn_config");
  DbrxExpertsConfig& experts = keys.experts;
  experts.hidden = keys.attention.hidden;
  experts.intermediate = nested.Size({"ffn_hidden_size"}, 3584);
  experts.experts = nested.SizeOrZero({"moe_num_experts"}, 4);
  experts.per_token = nested.SizeOrZero({"moe_top_k"}, 1);
  experts.jitter = nested.OptionalReal({"moe_jitter_eps"}).value_or(0);
  const ConfigValue* order = nested.Raw("moe_normalize_expert_weights");
  experts.normalizes = order == nullptr || !order->is_null();
  CheckFields(nested,
              {{"moe_loss_weight", FieldKind::kFloat},
               {"moe_normalize_expert_weights", FieldKind::kFloat, true},
               {"hidden_size", FieldKind::kWhole}});
  if (keys.layers > 0) {
    const ConfigView activation = nested.Nested("ffn_act_fn");
    experts.activation =
        ActivationNamed(activation, "name", activation.Text({"name"}, "silu"));
  }
  nested.Ignore({"ffn_act_fn", "model_type"});
  if (experts.per_token <= experts.experts) return;
  nested.Find("model/experts", Severity::kBlock, "moe_top_k",
              "moe_top_k is more than there are experts",
              "the router cannot choose so many; the forward fails",
              "lower moe_top_k");
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  DbrxKeys keys;
  DecoderConfig decoder;
  decoder.vocabulary = config.SizeOrZero({"vocab_size"}, 32000);
  decoder.layers = config.Layers({"num_hidden_layers", "n_layers"}, 24);
  keys.layers = decoder.layers;
  const int64_t positions =
      config.Size({"max_position_embeddings", "max_seq_len"}, 2048);
  ReadAttention(config, keys);
  ReadExperts(config, keys);
  decoder.hidden = keys.attention.hidden;
  decoder.head.kind = HeadOfClass(class_name).value_or(Head::kNone);
  decoder.head.hidden = decoder.hidden;
  decoder.head.vocabulary = decoder.vocabulary;
  decoder.norm_epsilon = 1e-5;  // torch's own
  decoder.base_name = "transformer";
  decoder.embeddings_name = "wte";
  decoder.layers_name = "blocks";
  decoder.norm_name = "norm_f";
  // Angles are made for the width of a head that a file states.
  decoder.rope =
      ReadRope(config, {.positions = positions,
                        .head_dim = UndeclaredHeadDim(config, keys.attention),
                        .head_dim_is_held = false});
  if (config.Flag({"tie_word_embeddings"}, false)) {
    config.Find("model/ties", Severity::kBlock, "tie_word_embeddings",
                "tie_word_embeddings is true",
                "the library refuses the configuration", "set it to false");
  }
  CheckPadding(config, decoder.vocabulary);
  CheckCommonFields(config);
  CheckFields(config, {{"resid_pdrop", FieldKind::kFloat, true},
                       {"emb_pdrop", FieldKind::kFloat, true},
                       {"initializer_range", FieldKind::kFloat}});
  keys.experts.keeps_logits = FlagOrNull(config, "output_router_logits", false);
  const double dropout = config.OptionalReal({"resid_pdrop"}).value_or(0);
  config.Ignore({"pad_token_id", "pretraining_tp", "move_model_to_device"});
  auto model = std::make_unique<Decoder<DbrxLayer, DbrxNorm>>(
      root, decoder, [&](const Module& at, int64_t /*index*/) {
        return DbrxLayer(at, keys.attention, keys.experts, dropout);
      });
  if (keys.experts.keeps_logits && decoder.head.kind == Head::kCausalLm) {
    ExpertsConfig scored;
    scored.experts = keys.experts.experts;
    scored.per_token = keys.experts.per_token;
    model->FinishWith(BalancedLoss(scored));
  }
  model->states.assign(static_cast<size_t>(keys.layers),
                       StateOf(keys.attention, 0));
  model->context_length = RopeContext(decoder.rope);
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"dbrx"};
constexpr std::array<std::string_view, 2> kClasses = {"DbrxForCausalLM",
                                                      "DbrxModel"};

}  // namespace

extern const Family kDbrxFamily = {
    .name = "dbrx",
    .title = "DBRX",
    .doc =
        "One product for queries, keys and values, held within limits, and "
        "experts as rows of three tables, which run one after another.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
