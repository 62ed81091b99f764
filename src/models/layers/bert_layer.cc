#include "models/layers/bert_layer.h"

#include <cmath>
#include <utility>
#include <vector>

#include "graph/ops/elementwise.h"
#include "graph/ops/indexing.h"
#include "graph/ops/views.h"
#include "models/layers/causal_mask.h"
#include "models/layers/functional.h"
#include "models/layers/plain_attention.h"

namespace foretell {

ValueId WholeNumberBuffer(const Module& at, std::string_view name,
                          int64_t count) {
  at.Buffer(name, {1, count}, DType::kInt64, false);
  return at.builder().graph().buffers.back().value;
}

BertEmbeddings::BertEmbeddings(const Module& at, const BertLayerConfig& config,
                               int64_t vocabulary, int64_t positions,
                               int64_t types)
    : module(at),
      word_embeddings(at.Child("word_embeddings", RegionKind::kEmbedding),
                      vocabulary, config.hidden),
      position_embeddings(
          at.Child("position_embeddings", RegionKind::kEmbedding), positions,
          config.hidden),
      token_type_embeddings(
          at.Child("token_type_embeddings", RegionKind::kEmbedding), types,
          config.hidden),
      norm(at.Child("LayerNorm", RegionKind::kNorm), config.hidden,
           config.norm_epsilon),
      dropout(at.Child("dropout"), config.hidden_dropout),
      position_ids(WholeNumberBuffer(at, "position_ids", positions)),
      token_type_ids(WholeNumberBuffer(at, "token_type_ids", positions)) {
  word_embeddings.module.MarkInputEmbeddings();
}

Tensor BertEmbeddings::Forward(const Tensor& input_ids) const {
  const Scope scope = module.Enter();
  Builder& builder = module.builder();
  const int64_t batch = input_ids.size(0);
  const int64_t length = input_ids.size(1);
  const Tensor positions = SliceRange(builder.Read(position_ids), 1, 0, length);
  const auto types_of = [&] {
    const Tensor held = builder.Read(token_type_ids);
    return builder.library().gathers_token_types
               ? Gather(Expand(held, {1, -1}), 1, positions)
               : SliceRange(held, 1, 0, length);
  };
  const Tensor types = Expand(types_of(), {batch, length});
  const Tensor words = word_embeddings.Forward(input_ids);
  const Tensor typed = token_type_embeddings.Forward(types);
  Tensor embedded = Add(words, typed);
  const Tensor placed = position_embeddings.Forward(positions);
  embedded = Add(embedded, placed);
  embedded = norm.Forward(embedded);
  return dropout.Forward(embedded);
}

BertSelfAttention::BertSelfAttention(const Module& at,
                                     const BertLayerConfig& settings)
    : module(at),
      config(settings),
      query(at.Child("query", RegionKind::kLinear), config.hidden,
            config.heads * config.head_dim, true),
      key(at.Child("key", RegionKind::kLinear), config.hidden,
          config.heads * config.head_dim, true),
      value(at.Child("value", RegionKind::kLinear), config.hidden,
            config.heads * config.head_dim, true) {}

Tensor BertSelfAttention::Forward(const Tensor& hidden, const Tensor& mask,
                                  std::string_view attention,
                                  CachedLayer* cached) const {
  const Scope scope = module.Enter();
  const Tensor q = SplitHeads(query.Forward(hidden), config.head_dim);
  Tensor k = SplitHeads(key.Forward(hidden), config.head_dim);
  Tensor v = SplitHeads(value.Forward(hidden), config.head_dim);
  if (cached != nullptr) {
    *cached = UpdateEmptyCache(k, v);
    k = cached->keys;
    v = cached->values;
  }
  PlainAttentionCall call;
  call.mask = mask;
  call.dropout = config.attention_dropout;
  call.scale = 1 / std::sqrt(static_cast<double>(config.head_dim));
  call.causal = config.is_decoder;
  call.attention = attention;
  call.returning_levels = 2;
  const Tensor out = Contiguous(AttendPlainly(q, k, v, call));
  return Reshape(out, {out.size(0), out.size(1), -1});
}

BertOutput::BertOutput(const Module& at, const BertLayerConfig& config,
                       int64_t in)
    : module(at),
      dense(at.Child("dense", RegionKind::kLinear), in, config.hidden, true),
      norm(at.Child("LayerNorm", RegionKind::kNorm), config.hidden,
           config.norm_epsilon),
      dropout(at.Child("dropout"), config.hidden_dropout) {}

Tensor BertOutput::Forward(Tensor hidden, const Tensor& input) const {
  const Scope scope = module.Enter();
  hidden = dense.Forward(hidden);
  hidden = dropout.Forward(hidden);
  return norm.Forward(Add(hidden, input));
}

BertAttention::BertAttention(const Module& at, const BertLayerConfig& config)
    : module(at),
      self(at.Child("self"), config),
      output(at.Child("output"), config, config.hidden) {}

Tensor BertAttention::Forward(const Tensor& hidden, const Tensor& mask,
                              std::string_view attention,
                              CachedLayer* cached) const {
  const Scope scope = module.Enter();
  const Tensor attended = self.Forward(hidden, mask, attention, cached);
  return output.Forward(attended, hidden);
}

BertIntermediate::BertIntermediate(const Module& at,
                                   const BertLayerConfig& config)
    : module(at),
      dense(at.Child("dense", RegionKind::kLinear), config.hidden,
            config.intermediate, true),
      intermediate_act_fn(at.Child("intermediate_act_fn"), config.activation) {}

Tensor BertIntermediate::Forward(Tensor hidden) const {
  const Scope scope = module.Enter();
  hidden = dense.Forward(hidden);
  return intermediate_act_fn.Forward(hidden);
}

BertLayer::BertLayer(const Module& at, const BertLayerConfig& config)
    : module(at),
      chunk(config.chunk),
      attention(at.Child("attention", RegionKind::kAttention), config),
      crossattention(
          config.cross_attention
              ? std::optional<BertAttention>(
                    std::in_place,
                    at.Child("crossattention", RegionKind::kAttention), config)
              : std::nullopt),
      intermediate(at.Child("intermediate", RegionKind::kMlp), config),
      output(at.Child("output", RegionKind::kMlp), config,
             config.intermediate) {}

Tensor BertLayer::FeedForward(const Tensor& attended) const {
  const Tensor widened = intermediate.Forward(attended);
  return output.Forward(widened, attended);
}

Tensor BertLayer::Forward(const Tensor& hidden, const Tensor& mask,
                          std::string_view attention_kind,
                          CachedLayer* cached) const {
  const CheckpointScope checkpoint(module.builder(), {hidden, mask});
  const Scope scope = module.Enter();
  const Tensor attended =
      attention.Forward(hidden, mask, attention_kind, cached);
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

BertEncoder::BertEncoder(const Module& at, const BertLayerConfig& config,
                         int64_t layers)
    : module(at),
      is_decoder(config.is_decoder),
      fills_cache(config.fills_cache) {
  const Module list = module.Child("layer");
  for (int64_t index = 0; index < layers; ++index) {
    layer.emplace_back(list.Child(index, RegionKind::kBlock), config);
  }
}

BertResults BertEncoder::Forward(const Tensor& embedded,
                                 std::string_view attention,
                                 const Tensor& padding) const {
  Tensor mask;
  if (is_decoder) {
    mask = padding.empty() ? CausalMask(embedded, Tensor(), attention, 0)
                           : CausalMaskOver(padding, embedded, attention);
  } else if (!padding.empty()) {
    LookThroughMask(padding);
  }
  const Scope scope = module.Enter();
  // A block that is computed again is given no cache.
  const bool caches = fills_cache && !module.builder().execution().checkpoint;
  BertResults out;
  out.hidden = embedded;
  for (const BertLayer& one : layer) {
    CachedLayer* const cached = caches ? &out.cache.emplace_back() : nullptr;
    out.hidden = one.Forward(out.hidden, mask, attention, cached);
  }
  return out;
}

BertPooler::BertPooler(const Module& at, int64_t hidden)
    : module(at),
      dense(at.Child("dense", RegionKind::kLinear), hidden, hidden, true),
      activation(at.Child("activation"), Activation::kTanh) {}

Tensor BertPooler::Forward(const Tensor& hidden) const {
  const Scope scope = module.Enter();
  const Tensor first = Select(hidden, 1, 0);
  const Tensor pooled = dense.Forward(first);
  return activation.Forward(pooled);
}

}  // namespace foretell
