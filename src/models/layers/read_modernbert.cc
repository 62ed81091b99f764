#include "models/layers/read_modernbert.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/layers/check_fields.h"
#include "models/layers/dropout.h"

namespace foretell {
namespace {

constexpr std::string_view kFull = "full_attention";
constexpr std::string_view kSliding = "sliding_attention";

// Listed, or every third layer sees all tokens.
void ReadLayerTypes(const ConfigView& config, ModernBertConfig& out) {
  const int64_t period = config.Raw("global_attn_every_n_layers") == nullptr
                             ? 3
                             : config.Whole({"global_attn_every_n_layers"}, 3);
  const auto listed = config.TextList({"layer_types"});
  if (!listed && period == 0 && out.layers > 0) {
    config.Find("model/layer-types", Severity::kBlock,
                "global_attn_every_n_layers", "global_attn_every_n_layers is 0",
                "the class divides by it as it loads",
                "\"global_attn_every_n_layers\": 3");
  }
  if (listed && static_cast<int64_t>(listed->size()) < out.layers) {
    config.Find("model/layer-types", Severity::kBlock, "layer_types",
                fmt::format("layer_types names {} layers of {}", listed->size(),
                            out.layers),
                "the class looks each layer up as the model is built",
                "name as many as num_hidden_layers");
  }
  for (int64_t index = 0; index < out.layers; ++index) {
    const auto at = static_cast<size_t>(index);
    bool slides = period != 0 && index % period != 0;
    if (listed) {
      const std::string_view type =
          at < listed->size() ? std::string_view((*listed)[at]) : kFull;
      slides = type == kSliding;
      if (!slides && type != kFull) {
        config.Problem("layer_types",
                       fmt::format("names a kind of layer that ModernBERT "
                                   "lacks: \"{}\"",
                                   type.substr(0, 40)),
                       "write full_attention or sliding_attention");
        return;
      }
    }
    out.slides.push_back(slides);
    (slides ? out.any_window : out.any_full) = true;
  }
}

void ReadRopes(const ConfigView& config, ModernBertConfig& out) {
  for (const std::string_view key : {"rope_scaling", "rope_parameters"}) {
    const ConfigValue* given = config.Raw(key);
    if (given == nullptr || given->is_null()) continue;
    const ConfigView nested = config.Nested(key);
    for (const std::string_view kind : {kFull, kSliding}) {
      const ConfigValue* one = nested.Raw(kind);
      if (one == nullptr || one->is_null()) continue;
      const std::string type =
          nested.Nested(kind).Text({"rope_type", "type"}, "default");
      out.turns_plainly = out.turns_plainly && type == "default";
      nested.Nested(kind).Ignore({"rope_theta", "type", "rope_type"});
    }
    if (key == "rope_scaling") {
      out.turns_plainly =
          out.turns_plainly &&
          nested.Text({"rope_type", "type"}, "default") == "default";
    }
  }
  const int64_t turned = config.Has("head_dim")
                             ? config.Size({"head_dim"}, out.head_dim)
                             : out.head_dim;
  out.frequencies = (turned + 1) / 2;
}

void CheckHeads(const ConfigView& config, const ModernBertConfig& out) {
  if (out.layers == 0 || out.width % out.heads == 0) return;
  config.Find("model/heads", Severity::kBlock, "num_attention_heads",
              fmt::format("hidden_size {} is not a multiple of "
                          "num_attention_heads {}",
                          out.width, out.heads),
              "ModernBertAttention refuses it as the model is built",
              "choose a number of heads that divides hidden_size");
}

void ReadHead(const ConfigView& config, const ModernBertNeeds& needs,
              ModernBertConfig& out) {
  if (needs.head) {
    const std::string name = config.Text({"classifier_activation"}, "gelu");
    out.classifier_activation =
        ActivationNamed(config, "classifier_activation", name);
  }
  out.classifier_bias = config.Flag({"classifier_bias"}, false);
  out.decoder_bias = config.Flag({"decoder_bias"}, true);
  out.sparse_prediction = config.Flag({"sparse_prediction"}, false);
  const std::string pooling = config.Text({"classifier_pooling"}, "cls");
  out.pools_mean = pooling == "mean";
  if (pooling != "mean" && pooling != "cls") {
    config.Problem("classifier_pooling", "is neither cls nor mean",
                   "write cls or mean");
  }
  if (needs.classifier_dropout) {
    out.classifier_dropout = ReadDropout(config, "classifier_dropout", 0);
  }
}

}  // namespace

ModernBertConfig ReadModernBert(const ConfigView& config,
                                const ModernBertNeeds& needs) {
  ModernBertConfig out;
  CheckCommonFields(config);
  CheckFields(config, {{"norm_eps", FieldKind::kFloat},
                       {"initializer_range", FieldKind::kFloat},
                       {"initializer_cutoff_factor", FieldKind::kFloat},
                       {"classifier_dropout", FieldKind::kNumber},
                       {"classifier_activation", FieldKind::kText},
                       {"cls_token_id", FieldKind::kWhole, true},
                       {"sep_token_id", FieldKind::kWhole, true},
                       {"pad_token_id", FieldKind::kWhole, true},
                       {"deterministic_flash_attn", FieldKind::kFlag},
                       {"sparse_pred_ignore_index", FieldKind::kWhole}});
  out.vocabulary = SizeOrEmpty(config, {"vocab_size"}, 50368);
  out.positions = SizeOrEmpty(config, {"max_position_embeddings"}, 8192);
  out.layers = config.Layers({"num_hidden_layers"}, 22);
  out.width = config.Size({"hidden_size"}, 768);
  out.heads = config.Size({"num_attention_heads"}, 12);
  out.head_dim = std::max<int64_t>(1, out.width / out.heads);
  out.inner = SizeOrEmpty(config, {"intermediate_size"}, 1152);
  const std::string name = config.Text({"hidden_activation"}, "gelu");
  if (out.layers > 0) {
    out.activation = ActivationNamed(config, "hidden_activation", name);
  }
  out.norm_epsilon = config.Real({"norm_eps"}, 1e-5);
  out.norm_bias = config.Flag({"norm_bias"}, false);
  out.attention_bias = config.Flag({"attention_bias"}, false);
  out.mlp_bias = config.Flag({"mlp_bias"}, false);
  out.attention_dropout = ReadDropout(config, "attention_dropout", 0);
  out.embedding_dropout = ReadDropout(config, "embedding_dropout", 0);
  out.mlp_dropout = ReadDropout(config, "mlp_dropout", 0);
  out.window = config.SizeOrZero({"local_attention"}, 128) / 2;
  CheckHeads(config, out);
  ReadLayerTypes(config, out);
  ReadRopes(config, out);
  ReadHead(config, needs, out);
  ReadPadding(config, 50283, {{"vocab_size", out.vocabulary}});
  out.tie_embeddings = config.Flag({"tie_word_embeddings"}, true);
  out.labels = ReadLabels(config, needs.labels);
  // Angles move no shape; compiling is the caller's choice now; the rest is
  // what BERT's files had.
  config.Ignore({"global_rope_theta", "local_rope_theta", "rope_theta",
                 "reference_compile", "layer_norm_eps",
                 "position_embedding_type", "classifier_dropout",
                 "repad_logits_with_grad", "sparse_pred_ignore_index",
                 "deterministic_flash_attn"});
  return out;
}

}  // namespace foretell
