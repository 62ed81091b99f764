#include "models/layers/distilbert_layer.h"

#include <fmt/format.h>

#include <cmath>
#include <string>

#include "graph/ops/elementwise.h"
#include "graph/ops/indexing.h"
#include "graph/ops/views.h"
#include "models/layers/bert_layer.h"
#include "models/layers/check_fields.h"
#include "models/layers/functional.h"
#include "models/layers/plain_attention.h"

namespace foretell {
namespace {

void CheckHeads(const ConfigView& config, const DistilBertConfig& settings) {
  if (settings.width % settings.heads == 0) return;
  config.Find("model/heads", Severity::kBlock, "n_heads",
              fmt::format("dim {} is not a multiple of n_heads {}",
                          settings.width, settings.heads),
              "TransformerBlock refuses it as the model is built",
              "choose a number of heads that divides dim");
}

void CheckAnswers(const ConfigView& config, const LabelConfig& labels) {
  if (labels.count == 2) return;
  config.Find(
      "config/labels", Severity::kBlock, "num_labels",
      fmt::format("there are {} labels", labels.count),
      "DistilBertForQuestionAnswering takes two: an answer has two ends",
      "\"num_labels\": 2");
}

}  // namespace

DistilBertConfig ReadDistilBert(const ConfigView& config,
                                const DistilBertNeeds& needs) {
  DistilBertConfig out;
  CheckCommonFields(config);
  CheckFields(config, {{"initializer_range", FieldKind::kFloat},
                       {"sinusoidal_pos_embds", FieldKind::kFlag},
                       {"seq_classif_dropout", FieldKind::kNumber},
                       {"qa_dropout", FieldKind::kNumber},
                       {"pad_token_id", FieldKind::kWhole, true}});
  out.vocabulary = SizeOrEmpty(config, {"vocab_size"}, 30522);
  out.positions = SizeOrEmpty(config, {"max_position_embeddings"}, 512);
  out.layers = config.Layers({"num_hidden_layers", "n_layers"}, 6);
  out.width = config.Size({"hidden_size", "dim"}, 768);
  out.heads = config.Size({"num_attention_heads", "n_heads"}, 12);
  out.head_dim = std::max<int64_t>(1, out.width / out.heads);
  out.inner = SizeOrEmpty(config, {"hidden_dim"}, 3072);
  const std::string activation = config.Text({"activation"}, "gelu");
  if (out.layers > 0 || needs.activation) {
    out.activation = ActivationNamed(config, "activation", activation);
  }
  out.dropout = ReadDropout(config, "dropout", 0.1);
  out.attention_dropout = ReadDropout(config, "attention_dropout", 0.1);
  out.head_dropout =
      needs.dropout.key.empty()
          ? out.dropout
          : ReadDropout(config, needs.dropout.key, needs.dropout.otherwise);
  if (const ConfigValue* chunk = config.Raw("chunk_size_feed_forward")) {
    out.chunk = chunk->AsInteger().value_or(0);
  }
  if (out.layers > 0) CheckHeads(config, out);
  ReadPadding(config, 0, {{"vocab_size", out.vocabulary}});
  out.tie_embeddings = config.Flag({"tie_word_embeddings"}, true);
  out.labels = ReadLabels(config, needs.labels);
  if (needs.answers) CheckAnswers(config, out.labels);
  // Positions that are sines are so by their first values only, and train as
  // others do; the rest is what the first code and other heads wrote.
  config.Ignore({"sinusoidal_pos_embds", "seq_classif_dropout", "qa_dropout",
                 "tie_weights_", "output_past", "pruned_heads"});
  return out;
}

DistilBertEmbeddings::DistilBertEmbeddings(const Module& at,
                                           const DistilBertConfig& config)
    : module(at),
      word_embeddings(at.Child("word_embeddings", RegionKind::kEmbedding),
                      config.vocabulary, config.width),
      position_embeddings(
          at.Child("position_embeddings", RegionKind::kEmbedding),
          config.positions, config.width),
      norm(at.Child("LayerNorm", RegionKind::kNorm), config.width,
           kDistilBertEpsilon),
      dropout(at.Child("dropout"), config.dropout),
      position_ids(WholeNumberBuffer(at, "position_ids", config.positions)) {
  word_embeddings.module.MarkInputEmbeddings();
}

Tensor DistilBertEmbeddings::Forward(const Tensor& input_ids) const {
  const Scope scope = module.Enter();
  const Tensor words = word_embeddings.Forward(input_ids);
  const Tensor positions =
      SliceRange(module.builder().Read(position_ids), 1, 0, input_ids.size(1));
  const Tensor placed = position_embeddings.Forward(positions);
  Tensor embedded = Add(words, placed);
  embedded = norm.Forward(embedded);
  return dropout.Forward(embedded);
}

DistilBertAttention::DistilBertAttention(const Module& at,
                                         const DistilBertConfig& config)
    : module(at),
      head_dim(config.head_dim),
      dropout(config.attention_dropout),
      q_lin(at.Child("q_lin", RegionKind::kLinear), config.width, config.width,
            true),
      k_lin(at.Child("k_lin", RegionKind::kLinear), config.width, config.width,
            true),
      v_lin(at.Child("v_lin", RegionKind::kLinear), config.width, config.width,
            true),
      out_lin(at.Child("out_lin", RegionKind::kLinear), config.width,
              config.width, true) {}

Tensor DistilBertAttention::Forward(const Tensor& hidden,
                                    std::string_view attention) const {
  const Scope scope = module.Enter();
  const Tensor q = SplitHeads(q_lin.Forward(hidden), head_dim);
  const Tensor k = SplitHeads(k_lin.Forward(hidden), head_dim);
  const Tensor v = SplitHeads(v_lin.Forward(hidden), head_dim);
  PlainAttentionCall call;
  call.dropout = dropout;
  call.scale = 1 / std::sqrt(static_cast<double>(head_dim));
  call.attention = attention;
  Tensor out = Contiguous(AttendPlainly(q, k, v, call));
  out = Reshape(out, {out.size(0), out.size(1), -1});
  return out_lin.Forward(out);
}

DistilBertFeedForward::DistilBertFeedForward(const Module& at,
                                             const DistilBertConfig& config)
    : module(at),
      chunk(config.chunk),
      dropout(at.Child("dropout"), config.dropout),
      lin1(at.Child("lin1", RegionKind::kLinear), config.width, config.inner,
           true),
      lin2(at.Child("lin2", RegionKind::kLinear), config.inner, config.width,
           true),
      activation(at.Child("activation"), config.activation) {}

Tensor DistilBertFeedForward::RunChunk(const Tensor& hidden) const {
  Tensor x = lin1.Forward(hidden);
  x = activation.Forward(x);
  x = lin2.Forward(x);
  return dropout.Forward(x);
}

Tensor DistilBertFeedForward::Forward(const Tensor& hidden) const {
  const Scope scope = module.Enter();
  if (chunk <= 0) return RunChunk(hidden);
  if (hidden.size(1) % chunk != 0) {
    module.builder().Fail("chunk_size_feed_forward does not divide the length");
    return hidden;
  }
  std::vector<Tensor> parts;
  for (const Tensor& part : Split(hidden, chunk, 1)) {
    parts.push_back(RunChunk(part));
  }
  return Cat(parts, 1);
}

DistilBertBlock::DistilBertBlock(const Module& at,
                                 const DistilBertConfig& config)
    : module(at),
      attention(at.Child("attention", RegionKind::kAttention), config),
      sa_layer_norm(at.Child("sa_layer_norm", RegionKind::kNorm), config.width,
                    kDistilBertEpsilon),
      ffn(at.Child("ffn", RegionKind::kMlp), config),
      output_layer_norm(at.Child("output_layer_norm", RegionKind::kNorm),
                        config.width, kDistilBertEpsilon) {}

Tensor DistilBertBlock::Forward(const Tensor& hidden,
                                std::string_view attention_kind) const {
  const CheckpointScope checkpoint(module.builder(), {hidden});
  const Scope scope = module.Enter();
  Tensor attended = attention.Forward(hidden, attention_kind);
  attended = sa_layer_norm.Forward(Add(attended, hidden));
  const Tensor forwarded = ffn.Forward(attended);
  return output_layer_norm.Forward(Add(forwarded, attended));
}

DistilBertTransformer::DistilBertTransformer(const Module& at,
                                             const DistilBertConfig& config)
    : module(at) {
  const Module list = at.Child("layer");
  for (int64_t index = 0; index < config.layers; ++index) {
    layer.emplace_back(list.Child(index, RegionKind::kBlock), config);
  }
}

Tensor DistilBertTransformer::Forward(Tensor hidden,
                                      std::string_view attention) const {
  const Scope scope = module.Enter();
  for (const DistilBertBlock& one : layer) {
    hidden = one.Forward(hidden, attention);
  }
  return hidden;
}

}  // namespace foretell
