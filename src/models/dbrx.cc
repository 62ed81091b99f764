// DBRX: one product for queries, keys and values, held within limits, and
// experts stored as rows of three tables.
//
// Source: transformers 5.23, models/dbrx/modeling_dbrx.py and
// configuration_dbrx.py.
// Does not model: the forward.
#include <array>
#include <string>

#include "models/family.h"
#include "models/layers/activation.h"
#include "models/layers/check_fields.h"
#include "models/layers/decoder_head.h"
#include "models/layers/linear.h"
#include "models/layers/read_decoder.h"
#include "models/layers/rope.h"

namespace foretell {
namespace {

struct DbrxKeys {
  AttentionConfig attention;
  HeadConfig head;
  RopeConfig rope;
  int64_t vocabulary = 0;
  int64_t layers = 0;
  int64_t positions = 0;
  int64_t intermediate = 0;  // of one expert
  int64_t experts = 0;
  int64_t per_token = 0;
};

void AddBlock(const Module& at, const DbrxKeys& keys) {
  const AttentionConfig& heads = keys.attention;
  const int64_t hidden = heads.hidden;
  const Module outer = at.Child("norm_attn_norm");
  // LayerNorms without a bias.
  const auto norm = [&](std::string_view name) {
    outer.Child(name, RegionKind::kNorm).Parameter("weight", {hidden});
  };
  norm("norm_1");
  const Module attn = outer.Child("attn", RegionKind::kAttention);
  Linear(attn.Child("Wqkv", RegionKind::kLinear), hidden,
         hidden + 2 * heads.kv_heads * heads.head_dim, false);
  Linear(attn.Child("out_proj", RegionKind::kLinear), hidden, hidden, false);
  norm("norm_2");
  const Module ffn = at.Child("ffn", RegionKind::kMlp);
  const Module router = ffn.Child("router", RegionKind::kRouter);
  Linear(router.Child("layer", RegionKind::kLinear), hidden, keys.experts,
         false);
  const Module experts = ffn.Child("experts", RegionKind::kExperts);
  const Module mlp = experts.Child("mlp");
  for (const std::string_view name : {"w1", "v1", "w2"}) {
    const ParameterId table =
        mlp.Parameter(name, {keys.experts * keys.intermediate, hidden});
    at.builder().MarkExperts(table, keys.experts, keys.per_token);
  }
}

class DbrxModel : public Model {
 public:
  DbrxModel(const Module& root, const DbrxKeys& keys) : root_(root) {
    const bool is_base = keys.head.kind == Head::kNone;
    const Module base = is_base ? root : root.Child("transformer");
    RotaryEmbedding(base.Child("rotary_emb"), keys.rope);
    const Embedding table(base.Child("wte", RegionKind::kEmbedding),
                          keys.vocabulary, keys.attention.hidden);
    table.module.MarkInputEmbeddings();
    const Module blocks = base.Child("blocks");
    for (int64_t index = 0; index < keys.layers; ++index) {
      AddBlock(blocks.Child(index, RegionKind::kBlock), keys);
    }
    base.Child("norm_f", RegionKind::kNorm)
        .Parameter("weight", {keys.attention.hidden});
    DecoderHead(root, keys.head);
    stacks.push_back({"decoder", keys.layers});
  }

  Tensor Forward(const ForwardInputs& inputs) override {
    root_.builder().Fail("DBRX's operations are not modelled");
    return inputs.input_ids;
  }

 private:
  Module root_;
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
  keys.intermediate = nested.Size({"ffn_hidden_size"}, 3584);
  keys.experts = nested.SizeOrZero({"moe_num_experts"}, 4);
  keys.per_token = nested.SizeOrZero({"moe_top_k"}, 1);
  CheckFields(nested,
              {{"moe_jitter_eps", FieldKind::kNumber, true},
               {"moe_loss_weight", FieldKind::kFloat},
               {"moe_normalize_expert_weights", FieldKind::kFloat, true},
               {"hidden_size", FieldKind::kWhole}});
  if (keys.layers > 0) {
    const ConfigView activation = nested.Nested("ffn_act_fn");
    ActivationNamed(activation, "name", activation.Text({"name"}, "silu"));
  }
  nested.Ignore({"ffn_act_fn", "model_type"});
  if (keys.per_token <= keys.experts) return;
  nested.Find("model/experts", Severity::kBlock, "moe_top_k",
              "moe_top_k is more than there are experts",
              "the router cannot choose so many; the forward fails",
              "lower moe_top_k");
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  DbrxKeys keys;
  keys.vocabulary = config.SizeOrZero({"vocab_size"}, 32000);
  keys.layers = config.Layers({"num_hidden_layers", "n_layers"}, 24);
  keys.positions =
      config.Size({"max_position_embeddings", "max_seq_len"}, 2048);
  ReadAttention(config, keys);
  ReadExperts(config, keys);
  keys.head.kind = HeadOfClass(class_name).value_or(Head::kNone);
  keys.head.hidden = keys.attention.hidden;
  keys.head.vocabulary = keys.vocabulary;
  // Angles are made for the width of a head that a file states.
  keys.rope =
      ReadRope(config, {.positions = keys.positions,
                        .head_dim = UndeclaredHeadDim(config, keys.attention),
                        .head_dim_is_held = false});
  if (config.Flag({"tie_word_embeddings"}, false)) {
    config.Find("model/ties", Severity::kBlock, "tie_word_embeddings",
                "tie_word_embeddings is true",
                "the library refuses the configuration", "set it to false");
  }
  CheckPadding(config, keys.vocabulary);
  CheckCommonFields(config);
  CheckFields(config, {{"resid_pdrop", FieldKind::kFloat, true},
                       {"emb_pdrop", FieldKind::kFloat, true},
                       {"initializer_range", FieldKind::kFloat},
                       {"output_router_logits", FieldKind::kFlag, true}});
  config.Ignore({"pad_token_id", "pretraining_tp", "move_model_to_device"});
  auto model = std::make_unique<DbrxModel>(root, keys);
  model->states.assign(static_cast<size_t>(keys.layers),
                       StateOf(keys.attention, 0));
  model->context_length = RopeContext(keys.rope);
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
        "experts as rows of three tables; only parameters are told.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
