#include "models/layers/read_bert.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "models/layers/check_fields.h"

namespace foretell {
namespace {

void CheckHeads(const ConfigView& config, const BertLayerConfig& layer,
                const BertDialect& dialect) {
  // Another class's configuration has an embedding_size; with it, the rest of
  // the width goes unused.
  const bool tolerant =
      dialect.embedding || config.Raw("embedding_size") != nullptr;
  if (layer.hidden % layer.heads != 0 && !tolerant) {
    config.Find("model/heads", Severity::kBlock, "num_attention_heads",
                fmt::format("hidden_size {} is not a multiple of "
                            "num_attention_heads {}",
                            layer.hidden, layer.heads),
                "BertSelfAttention refuses it as the model is built",
                "choose a number of heads that divides hidden_size");
  } else if (layer.hidden < layer.heads) {
    config.Find("model/heads", Severity::kBlock, "num_attention_heads",
                fmt::format("num_attention_heads {} leaves nothing of "
                            "hidden_size {} for a head",
                            layer.heads, layer.hidden),
                "the class divides by a head's width of zero",
                "choose a number of heads that divides hidden_size");
  } else if (layer.hidden % layer.heads != 0) {
    config.Find("model/heads", Severity::kWarn, "num_attention_heads",
                fmt::format("hidden_size {} is not a multiple of "
                            "num_attention_heads {}",
                            layer.hidden, layer.heads),
                "embedding_size lets the model be built, but its forward "
                "fails on the shapes",
                "choose a number of heads that divides hidden_size");
  }
}

// A class whose padding is a number of its own.
void CheckFixedPadding(const ConfigView& config, int64_t padding,
                       std::initializer_list<PaddedTable> tables) {
  for (const auto& [key, rows] : tables) {
    if (padding < rows) continue;
    config.Find("model/padding", Severity::kBlock, key,
                fmt::format("{} is {}, and padding is row {}",
                            config.PathOf(key), rows, padding),
                "the embedding refuses it as the model is built",
                fmt::format("correct {}", key));
  }
}

BertLayerConfig ReadLayer(const ConfigView& config, int64_t layers,
                          bool needs_activation, const BertDialect& dialect) {
  BertLayerConfig out;
  out.hidden = config.Size({"hidden_size"}, dialect.hidden);
  out.heads = config.Size({"num_attention_heads"}, dialect.heads);
  out.head_dim = std::max<int64_t>(1, out.hidden / out.heads);
  out.intermediate =
      SizeOrEmpty(config, {"intermediate_size"}, dialect.intermediate);
  const std::string activation =
      config.Text({"hidden_act"}, dialect.activation);
  if (layers > 0 || needs_activation) {
    out.activation = ActivationNamed(config, "hidden_act", activation);
  }
  out.norm_epsilon = config.Real({"layer_norm_eps"}, 1e-12);
  out.hidden_dropout =
      ReadDropout(config, "hidden_dropout_prob", dialect.dropout);
  out.attention_dropout =
      ReadDropout(config, "attention_probs_dropout_prob", dialect.dropout);
  if (dialect.decodes) {
    out.is_decoder = config.Flag({"is_decoder"}, false);
    out.cross_attention = config.Flag({"add_cross_attention"}, false);
  }
  if (const ConfigValue* chunk = config.Raw("chunk_size_feed_forward")) {
    out.chunk = chunk->AsInteger().value_or(0);
  }
  if (layers == 0) return out;
  if (dialect.checks_heads) CheckHeads(config, out, dialect);
  if (out.cross_attention && !out.is_decoder) {
    config.Find(
        "model/cross-attention", Severity::kBlock, "add_cross_attention",
        "add_cross_attention is set, but is_decoder is not",
        "BertLayer refuses it as the model is built", "\"is_decoder\": true");
  }
  return out;
}

}  // namespace

BertConfig ReadBert(const ConfigView& config, const BertNeeds& needs,
                    const BertDialect& dialect) {
  BertConfig out;
  CheckCommonFields(config);
  CheckFields(config, {{"layer_norm_eps", FieldKind::kFloat},
                       {"initializer_range", FieldKind::kFloat},
                       {"classifier_dropout", FieldKind::kNumber, true},
                       {"pad_token_id", FieldKind::kWhole, true}});
  out.vocabulary = SizeOrEmpty(config, {"vocab_size"}, dialect.vocabulary);
  out.positions =
      SizeOrEmpty(config, {"max_position_embeddings"}, dialect.positions);
  if (dialect.has_types) {
    out.types = SizeOrEmpty(config, {"type_vocab_size"}, 2);
  }
  out.layers = config.Layers({"num_hidden_layers"}, dialect.layers);
  out.layer = ReadLayer(config, out.layers, needs.activation, dialect);
  out.embedding = dialect.embedding ? SizeOrEmpty(config, {"embedding_size"},
                                                  *dialect.embedding)
                                    : out.layer.hidden;
  const PaddedTable words = {"vocab_size", out.vocabulary};
  const PaddedTable places = {"max_position_embeddings", out.positions};
  if (!dialect.pads_by_number) {
    CheckFixedPadding(config, dialect.padding, {words, places});
    out.padding = dialect.padding;
  } else {
    out.padding = dialect.pads_positions
                      ? ReadPadding(config, dialect.padding, {words, places})
                      : ReadPadding(config, dialect.padding, {words});
  }
  out.tie_embeddings = config.Flag({"tie_word_embeddings"}, true);
  out.classifier_dropout =
      dialect.classifier_chance.value_or(out.layer.hidden_dropout);
  const std::string_view chance = dialect.classifier_dropout;
  if (needs.classifier_dropout && !chance.empty() && config.Has(chance)) {
    out.classifier_dropout =
        ReadDropout(config, chance, out.classifier_dropout);
  }
  out.labels = ReadLabels(config, needs.labels);
  // Positions are absolute whatever the file says since transformers 5; the
  // pooler and the directionality are those of Google's first files; the rest
  // is what embedders and their converters wrote.
  config.Ignore({"position_embedding_type", "directionality", "pooler_fc_size",
                 "pooler_num_attention_heads", "pooler_num_fc_layers",
                 "pooler_size_per_head", "pooler_type", "embedding_size",
                 "model_max_length", "export_model_type", "classifier_dropout",
                 "pruned_heads", "add_pooling_layer"});
  return out;
}

void CheckDirection(const ConfigView& config, std::string_view class_name,
                    bool predicts_next, bool fills_gaps) {
  const bool is_decoder = config.Flag({"is_decoder"}, false);
  if (predicts_next && !is_decoder) {
    config.Find("model/is-decoder", Severity::kWarn, "is_decoder",
                fmt::format("{} predicts the next token, but is_decoder is "
                            "not set",
                            class_name),
                "its attention looks ahead, so that the loss means nothing; "
                "sizes are not affected",
                "\"is_decoder\": true");
  }
  if (fills_gaps && is_decoder) {
    config.Find("model/is-decoder", Severity::kWarn, "is_decoder",
                fmt::format("{} fills gaps, but is_decoder is set", class_name),
                "its attention sees only what lies before a gap; sizes are "
                "not affected",
                "\"is_decoder\": false");
  }
}

void StateBertLayers(const BertConfig& config, Model& model) {
  const BertLayerConfig& layer = config.layer;
  model.stacks.push_back(
      {layer.is_decoder ? "decoder" : "encoder", config.layers});
  for (int64_t index = 0; index < config.layers; ++index) {
    LayerState state;
    if (layer.is_decoder) {
      state = {LayerState::Kind::kFull, layer.heads, layer.head_dim,
               layer.head_dim, 0};
    }
    model.states.push_back(state);
    state.kind = LayerState::Kind::kCross;
    if (layer.is_decoder && layer.cross_attention) {
      model.states.push_back(state);
    }
  }
}

}  // namespace foretell
