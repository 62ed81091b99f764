// DeepSeek-MoE 16B: Llama's attention, and from some layer on many small
// experts, each a feed-forward of its own, beside shared ones.
//
// Source: modeling_deepseek.py and configuration_deepseek.py, which lie beside
// the model's weights; the library has no such class.
// Does not model: the forward.
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "models/family.h"
#include "models/layers/cached_rotary.h"
#include "models/layers/check_fields.h"
#include "models/layers/decoder.h"
#include "models/layers/linear.h"
#include "models/layers/listed_experts.h"
#include "models/layers/mlp.h"
#include "models/layers/norm.h"
#include "models/layers/read_decoder.h"
#include "models/layers/read_experts.h"

namespace foretell {
namespace {

struct DeepseekKeys {
  AttentionConfig attention;
  DecoderKeys decoder;
  ExpertsConfig experts;  // none: every layer is dense
  int64_t shared = 0;     // width of the shared experts; 0: none
  int64_t first = 0;      // layer with experts
  int64_t step = 1;

  bool IsSparse(int64_t layer) const {
    return experts.experts > 0 && layer >= first && layer % step == 0;
  }
};

void AddAttention(const Module& at, const DeepseekKeys& keys) {
  const AttentionConfig& heads = keys.attention;
  const auto add = [&](std::string_view name, int64_t in, int64_t out) {
    Linear(at.Child(name, RegionKind::kLinear), in, out, heads.qkv_bias);
  };
  const int64_t width = heads.heads * heads.head_dim;
  add("q_proj", heads.hidden, width);
  add("k_proj", heads.hidden, heads.kv_heads * heads.head_dim);
  add("v_proj", heads.hidden, heads.kv_heads * heads.head_dim);
  add("o_proj", width, heads.hidden);
  AddCachedRotary(at.Child("rotary_emb"), heads.head_dim,
                  keys.decoder.positions);
}

void AddMlp(const Module& at, const DeepseekKeys& keys, int64_t layer) {
  const int64_t hidden = keys.attention.hidden;
  const ExpertsConfig& experts = keys.experts;
  if (!keys.IsSparse(layer)) {
    GatedMlp(at, hidden, keys.decoder.intermediate, false, experts.activation);
    return;
  }
  const Module list = at.Child("experts", RegionKind::kExperts);
  for (int64_t index = 0; index < experts.experts; ++index) {
    const GatedMlp one(list.Child(index, RegionKind::kMlp), hidden,
                       experts.intermediate, false, experts.activation);
    for (const Linear* linear :
         {&one.gate_proj, &one.up_proj, &one.down_proj}) {
      // As if each held its share of all: the sum comes to the same.
      at.builder().MarkExperts(linear->weight, experts.experts,
                               experts.per_token);
    }
  }
  at.Child("gate", RegionKind::kRouter)
      .Parameter("weight", {experts.experts, hidden});
  if (keys.shared == 0) return;
  GatedMlp(at.Child("shared_experts", RegionKind::kMlp), hidden, keys.shared,
           false, experts.activation);
}

class DeepseekModel : public Model {
 public:
  DeepseekModel(const Module& root, const DeepseekKeys& keys) : root_(root) {
    const DecoderConfig& decoder = keys.decoder.decoder;
    const bool is_base = decoder.head.kind == Head::kNone;
    const Module base = is_base ? root : root.Child("model");
    const Embedding table(base.Child("embed_tokens", RegionKind::kEmbedding),
                          decoder.vocabulary, decoder.hidden);
    const Module layers = base.Child("layers");
    for (int64_t index = 0; index < decoder.layers; ++index) {
      const Module at = layers.Child(index, RegionKind::kBlock);
      AddAttention(at.Child("self_attn", RegionKind::kAttention), keys);
      AddMlp(at.Child("mlp", RegionKind::kMlp), keys, index);
      for (const std::string_view name :
           {"input_layernorm", "post_attention_layernorm"}) {
        RmsNorm(at.Child(name, RegionKind::kNorm), decoder.hidden,
                decoder.norm_epsilon);
      }
    }
    RmsNorm(base.Child("norm", RegionKind::kNorm), decoder.hidden,
            decoder.norm_epsilon);
    const DecoderHead head(root, decoder.head);
    if (decoder.head.kind == Head::kCausalLm && decoder.tie_embeddings) {
      root.builder().Tie(head.projection->weight, table.weight);
    }
    stacks.push_back({"decoder", decoder.layers});
  }

  Tensor Forward(const ForwardInputs& inputs) override {
    root_.builder().Fail(
        "the model's code is not in the library; its operations are not "
        "modelled");
    return inputs.input_ids;
  }

 private:
  Module root_;
};

DeepseekKeys ReadKeys(const ConfigView& config, std::string_view class_name) {
  DeepseekKeys out;
  AttentionConfig& heads = out.attention;
  heads = ReadHeads(config);
  heads.kv_heads =
      config.Raw("num_key_value_heads") == nullptr
          ? config.Size({"num_key_value_heads"}, 32)
          : SizeOrDerived(config, "num_key_value_heads", heads.heads);
  CheckKeyValueHeads(config, heads);
  heads.head_dim = EvenHeadDim(config, heads);
  heads.qkv_bias = config.Flag({"attention_bias"}, false);
  out.decoder = ReadDecoder(config, class_name, heads.hidden,
                            {.vocabulary = 102400, .layers = 30});
  ExpertsConfig& experts = out.experts;
  experts.hidden = heads.hidden;
  experts.activation = out.decoder.activation;
  experts.intermediate = config.Size({"moe_intermediate_size"}, 1407);
  experts.experts = config.OptionalSize({"n_routed_experts"}).value_or(0);
  experts.experts = BoundListedExperts(
      config, "n_routed_experts", experts.experts, out.decoder.decoder.layers);
  experts.per_token = config.OptionalSize({"num_experts_per_tok"}).value_or(0);
  if (experts.experts > 0) CheckExpertsPerToken(config, experts);
  out.shared = experts.intermediate *
               config.OptionalSize({"n_shared_experts"}).value_or(0);
  out.first = config.Whole({"first_k_dense_replace"}, 0);
  out.step = config.Size({"moe_layer_freq"}, 1);
  // Nothing of these is a module.
  config.Ignore({"aux_loss_alpha", "seq_aux", "norm_topk_prob", "scoring_func",
                 "pretraining_tp", "rope_theta", "rope_scaling"});
  return out;
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  const DeepseekKeys keys = ReadKeys(config, class_name);
  auto model = std::make_unique<DeepseekModel>(root, keys);
  model->states.assign(static_cast<size_t>(keys.decoder.decoder.layers),
                       StateOf(keys.attention, 0));
  model->context_length.tokens = keys.decoder.positions;
  model->context_length.where = "max_position_embeddings";
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"deepseek"};
constexpr std::array<std::string_view, 3> kClasses = {
    "DeepseekForCausalLM", "DeepseekModel",
    "DeepseekForSequenceClassification"};

}  // namespace

extern const Family kDeepseekFamily = {
    .name = "deepseek",
    .title = "DeepSeek-MoE",
    .doc =
        "Llama's attention and many small experts, each a feed-forward of its "
        "own; the code comes with the weights, and only parameters are told.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
};

}  // namespace foretell
