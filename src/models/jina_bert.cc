// Encoders whose code comes with their weights: Jina's BERT with linear biases
// and a gated feed-forward, and GTE's with rotary positions ("NewModel").
//
// Source: the Jina Embeddings 2 report (arXiv 2310.19923), the mGTE report
// (arXiv 2407.19669), the published configurations and tensor names of
// jinaai/jina-embeddings-v2-base-en and Alibaba-NLP/gte-multilingual-base,
// whose totals they reproduce. Does not model: the forward.
#include <array>

#include "models/family.h"
#include "models/layers/check_fields.h"
#include "models/layers/plain_decoder.h"

namespace foretell {
namespace {

constexpr std::string_view kWhy = "only its parameters are told";

struct Sizes {
  int64_t vocabulary = 0;
  int64_t types = 0;
  int64_t hidden = 0;
  int64_t intermediate = 0;
  int64_t layers = 0;
};

Sizes ReadSizes(const ConfigView& config, int64_t vocabulary) {
  Sizes out;
  out.vocabulary = config.Size({"vocab_size"}, vocabulary);
  out.types = config.SizeOrZero({"type_vocab_size"}, 2);
  out.hidden = config.Size({"hidden_size"}, 768);
  out.intermediate = config.Size({"intermediate_size"}, 3072);
  out.layers = config.Layers({"num_hidden_layers"}, 12);
  const int64_t heads = config.Size({"num_attention_heads"}, 12);
  if (out.hidden % heads != 0) {
    config.Problem("num_attention_heads", "does not divide hidden_size",
                   "choose a number of heads that divides hidden_size");
  }
  CheckPadding(config, out.vocabulary);
  config.Ignore({"hidden_act", "hidden_dropout_prob", "layer_norm_eps",
                 "attention_probs_dropout_prob", "classifier_dropout",
                 "initializer_range", "pad_token_id", "model_max_length",
                 "emb_pooler", "attn_implementation", "rope_theta",
                 "rope_scaling", "logn_attention_clip1", "logn_attention_scale",
                 "unpad_inputs", "use_memory_efficient_attention"});
  return out;
}

void AddTables(const TowerModule& base, const Sizes& sizes) {
  const TowerModule at = base.Child("embeddings");
  at.Embedding("word_embeddings", sizes.vocabulary, sizes.hidden);
  if (sizes.types > 0) {
    at.Embedding("token_type_embeddings", sizes.types, sizes.hidden);
  }
  at.LayerNorm("LayerNorm", sizes.hidden);
}

std::unique_ptr<Model> Finish(const ConfigView& config, const Module& root,
                              const Sizes& sizes) {
  auto model = std::make_unique<ParametersOnly>(root, kWhy);
  model->stacks.push_back({"encoder", sizes.layers});
  model->states.assign(static_cast<size_t>(sizes.layers), LayerState());
  model->context_length.tokens =
      config.OptionalSize({"max_position_embeddings"});
  model->context_length.where = "max_position_embeddings";
  return model;
}

void CheckText(const ConfigView& config, std::string_view key,
               std::string_view only) {
  if (config.Text({key}, only) == only) return;
  config.Problem(key, "names a form that is not known here",
                 "the published models state " + std::string(only));
}

std::unique_ptr<Model> BuildJina(const ConfigView& config, const Module& root,
                                 std::string_view class_name) {
  const Sizes sizes = ReadSizes(config, 30522);
  CheckText(config, "position_embedding_type", "alibi");
  CheckText(config, "feed_forward_type", "geglu");
  const bool is_base = class_name.ends_with("Model");
  const Module place = is_base ? root : root.Child("bert");
  const TowerModule base(place);
  AddTables(base, sizes);
  const TowerModule list = base.Child("encoder.layer");
  const int64_t hidden = sizes.hidden;
  for (int64_t index = 0; index < sizes.layers; ++index) {
    const TowerModule layer = list.Child(index);
    const TowerModule attention =
        layer.Child("attention", RegionKind::kAttention);
    const TowerModule self = attention.Child("self");
    for (const std::string_view name : {"query", "key", "value"}) {
      self.Linear(name, hidden, hidden, true);
    }
    const TowerModule output = attention.Child("output");
    output.Linear("dense", hidden, hidden, true);
    output.LayerNorm("LayerNorm", hidden);
    const TowerModule mlp = layer.Child("mlp", RegionKind::kMlp);
    mlp.Linear("gated_layers", hidden, 2 * sizes.intermediate, false);
    mlp.Linear("wo", sizes.intermediate, hidden, true);
    mlp.LayerNorm("layernorm", hidden);
  }
  if (is_base) {
    base.Child("pooler").Linear("dense", hidden, hidden, true);
  } else {
    const TowerModule head = TowerModule(root).Child("cls.predictions");
    head.module().Parameter("bias", {sizes.vocabulary});
    const TowerModule transform = head.Child("transform");
    transform.Linear("dense", hidden, hidden, true);
    transform.LayerNorm("LayerNorm", hidden);
  }
  return Finish(config, root, sizes);
}

std::unique_ptr<Model> BuildNew(const ConfigView& config, const Module& root,
                                std::string_view class_name) {
  const Sizes sizes = ReadSizes(config, 30528);
  CheckText(config, "position_embedding_type", "rope");
  CheckText(config, "layer_norm_type", "layer_norm");
  if (!config.Flag({"pack_qkv"}, true)) {
    config.Problem("pack_qkv", "asks for three products",
                   "the published models pack them into one");
  }
  const bool is_base = class_name.ends_with("Model");
  const Module place = is_base ? root : root.Child("new");
  const TowerModule base(place);
  AddTables(base, sizes);
  const TowerModule list = base.Child("encoder.layer");
  const int64_t hidden = sizes.hidden;
  for (int64_t index = 0; index < sizes.layers; ++index) {
    const TowerModule layer = list.Child(index);
    const TowerModule attention =
        layer.Child("attention", RegionKind::kAttention);
    attention.Linear("qkv_proj", hidden, 3 * hidden, true);
    attention.Linear("o_proj", hidden, hidden, true);
    const TowerModule mlp = layer.Child("mlp", RegionKind::kMlp);
    mlp.Linear("up_gate_proj", hidden, 2 * sizes.intermediate, false);
    mlp.Linear("down_proj", sizes.intermediate, hidden, true);
    layer.LayerNorm("attn_ln", hidden);
    layer.LayerNorm("mlp_ln", hidden);
  }
  if (!is_base) {
    base.Child("pooler").Linear("dense", hidden, hidden, true);
    TowerModule(root).Linear("classifier", hidden,
                             config.Size({"num_labels"}, 2), true);
  }
  return Finish(config, root, sizes);
}

constexpr std::array<std::string_view, 0> kJinaTypes = {};
constexpr std::array<std::string_view, 1> kJinaClasses = {"JinaBertModel"};
// The published file names the class for masked words and holds the base model.
constexpr std::array<std::pair<std::string_view, std::string_view>, 1>
    kJinaNames = {{{"JinaBertForMaskedLM", "JinaBertModel"}}};
constexpr std::array<std::string_view, 1> kNewTypes = {"new"};
constexpr std::array<std::string_view, 2> kNewClasses = {
    "NewModel", "NewForSequenceClassification"};

}  // namespace

extern const Family kJinaBertFamily = {
    .name = "jina_bert",
    .title = "Jina BERT",
    .doc =
        "BERT with linear biases in place of positions and a gated "
        "feed-forward; Jina Embeddings 2; parameters only.",
    .model_types = kJinaTypes,
    .classes = kJinaClasses,
    .old_names = kJinaNames,
    .build = BuildJina,
    .described_by =
        "the Jina Embeddings 2 report (arXiv 2310.19923) and published files",
};

extern const Family kNewFamily = {
    .name = "new",
    .title = "GTE",
    .doc =
        "An encoder with rotary positions and a gated feed-forward; GTE 1.5 "
        "and mGTE; parameters only.",
    .model_types = kNewTypes,
    .classes = kNewClasses,
    .old_names = {},
    .build = BuildNew,
    .described_by = "the mGTE report (arXiv 2407.19669) and published files",
};

}  // namespace foretell
