#include "models/layers/albert_layer.h"

#include <cmath>

#include "graph/ops/elementwise.h"
#include "graph/ops/indexing.h"
#include "graph/ops/views.h"
#include "models/layers/functional.h"
#include "models/layers/plain_attention.h"

namespace foretell {

AlbertAttention::AlbertAttention(const Module& at,
                                 const BertLayerConfig& settings)
    : module(at),
      config(settings),
      output_dropout(at.Child("output_dropout"), config.hidden_dropout),
      query(at.Child("query", RegionKind::kLinear), config.hidden,
            config.heads * config.head_dim, true),
      key(at.Child("key", RegionKind::kLinear), config.hidden,
          config.heads * config.head_dim, true),
      value(at.Child("value", RegionKind::kLinear), config.hidden,
            config.heads * config.head_dim, true),
      dense(at.Child("dense", RegionKind::kLinear), config.hidden,
            config.hidden, true),
      norm(at.Child("LayerNorm", RegionKind::kNorm), config.hidden,
           config.norm_epsilon) {}

Tensor AlbertAttention::Forward(const Tensor& hidden,
                                std::string_view attention) const {
  const Scope scope = module.Enter();
  const Tensor q = SplitHeads(query.Forward(hidden), config.head_dim);
  const Tensor k = SplitHeads(key.Forward(hidden), config.head_dim);
  const Tensor v = SplitHeads(value.Forward(hidden), config.head_dim);
  PlainAttentionCall call;
  call.dropout = config.attention_dropout;
  call.scale = 1 / std::sqrt(static_cast<double>(config.head_dim));
  call.attention = attention;
  Tensor out = Contiguous(AttendPlainly(q, k, v, call));
  out = Reshape(out, {out.size(0), out.size(1), -1});
  out = dense.Forward(out);
  out = output_dropout.Forward(out);
  return norm.Forward(Add(hidden, out));
}

AlbertLayer::AlbertLayer(const Module& at, const BertLayerConfig& config)
    : module(at),
      chunk(config.chunk),
      full_layer_layer_norm(
          at.Child("full_layer_layer_norm", RegionKind::kNorm), config.hidden,
          config.norm_epsilon),
      attention(at.Child("attention", RegionKind::kAttention), config),
      ffn(at.Child("ffn", RegionKind::kMlp), config.hidden, config.intermediate,
          true),
      ffn_output(at.Child("ffn_output", RegionKind::kMlp), config.intermediate,
                 config.hidden, true),
      activation(at.Child("activation"), config.activation) {}

Tensor AlbertLayer::FeedForward(const Tensor& attended) const {
  Tensor out = ffn.Forward(attended);
  out = activation.Forward(out);
  return ffn_output.Forward(out);
}

Tensor AlbertLayer::FeedForwardInChunks(const Tensor& attended) const {
  if (chunk <= 0) return FeedForward(attended);
  if (attended.size(1) % chunk != 0) {
    module.builder().Fail("chunk_size_feed_forward does not divide the length");
    return attended;
  }
  std::vector<Tensor> parts;
  for (const Tensor& part : Split(attended, chunk, 1)) {
    parts.push_back(FeedForward(part));
  }
  return Cat(parts, 1);
}

Tensor AlbertLayer::Forward(const Tensor& hidden,
                            std::string_view attention_kind) const {
  const Scope scope = module.Enter();
  const Tensor attended = attention.Forward(hidden, attention_kind);
  const Tensor forwarded = FeedForwardInChunks(attended);
  return full_layer_layer_norm.Forward(Add(forwarded, attended));
}

AlbertGroup::AlbertGroup(const Module& at, const BertLayerConfig& config,
                         int64_t inner)
    : module(at) {
  const Module list = at.Child("albert_layers");
  for (int64_t index = 0; index < inner; ++index) {
    albert_layers.emplace_back(list.Child(index, RegionKind::kBlock), config);
  }
}

Tensor AlbertGroup::Forward(Tensor hidden, std::string_view attention) const {
  const Scope scope = module.Enter();
  for (const AlbertLayer& layer : albert_layers) {
    hidden = layer.Forward(hidden, attention);
  }
  return hidden;
}

AlbertTransformer::AlbertTransformer(const Module& at, const BertConfig& config,
                                     const AlbertGroups& groups)
    : module(at),
      depth(config.layers),
      embedding_hidden_mapping_in(
          at.Child("embedding_hidden_mapping_in", RegionKind::kLinear),
          config.embedding, config.layer.hidden, true) {
  const Module list = at.Child("albert_layer_groups");
  for (int64_t index = 0; index < groups.groups; ++index) {
    albert_layer_groups.emplace_back(list.Child(index), config.layer,
                                     groups.inner);
  }
}

Tensor AlbertTransformer::Forward(const Tensor& embedded,
                                  std::string_view attention) const {
  const Scope scope = module.Enter();
  if (module.builder().execution().checkpoint) {
    module.builder().Fail("the class does not support checkpointing");
  }
  Tensor hidden = embedding_hidden_mapping_in.Forward(embedded);
  const size_t groups = albert_layer_groups.size();
  if (depth > 0 && groups == 0) {
    module.builder().Fail("there is no group of layers");
    return hidden;
  }
  // In floating point, as the class divides.
  const double turn = static_cast<double>(depth) / static_cast<double>(groups);
  for (int64_t index = 0; index < depth; ++index) {
    const auto group = static_cast<size_t>(static_cast<double>(index) / turn);
    hidden = albert_layer_groups[std::min(group, groups - 1)].Forward(
        hidden, attention);
  }
  return hidden;
}

AlbertVocabularyHead::AlbertVocabularyHead(const Module& at,
                                           const BertConfig& config)
    : module(at),
      bias(at.Parameter("bias", {config.vocabulary})),
      norm(at.Child("LayerNorm", RegionKind::kNorm), config.embedding,
           config.layer.norm_epsilon),
      dense(at.Child("dense", RegionKind::kHead), config.layer.hidden,
            config.embedding, true),
      decoder(at.Child("decoder", RegionKind::kHead), config.embedding,
              config.vocabulary, true),
      activation(at.Child("activation"), config.layer.activation) {
  decoder.module.MarkOutputEmbeddings();
}

void AlbertVocabularyHead::Tie(ParameterId embeddings) const {
  module.builder().Tie(decoder.weight, embeddings);
  module.builder().Tie(*decoder.bias, bias);
}

Tensor AlbertVocabularyHead::Forward(Tensor hidden) const {
  const Scope scope = module.Enter();
  hidden = dense.Forward(hidden);
  hidden = activation.Forward(hidden);
  hidden = norm.Forward(hidden);
  return decoder.Forward(hidden);
}

}  // namespace foretell
