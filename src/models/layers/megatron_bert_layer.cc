#include "models/layers/megatron_bert_layer.h"

#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/in_place.h"
#include "graph/ops/indexing.h"
#include "graph/ops/reduction.h"
#include "graph/ops/views.h"
#include "models/layers/causal_mask.h"
#include "models/layers/functional.h"
#include "models/layers/padding_look.h"
#include "models/layers/plain_attention.h"
#include "models/layers/scored_attention.h"

namespace foretell {

MegatronBertEmbeddings::MegatronBertEmbeddings(const Module& at,
                                               const BertConfig& config)
    : module(at),
      word_embeddings(at.Child("word_embeddings", RegionKind::kEmbedding),
                      config.vocabulary, config.layer.hidden),
      position_embeddings(
          at.Child("position_embeddings", RegionKind::kEmbedding),
          config.positions, config.layer.hidden),
      token_type_embeddings(
          at.Child("token_type_embeddings", RegionKind::kEmbedding),
          config.types, config.layer.hidden),
      dropout(at.Child("dropout"), config.layer.hidden_dropout),
      position_ids(WholeNumberBuffer(at, "position_ids", config.positions)) {
  word_embeddings.module.MarkInputEmbeddings();
}

Tensor MegatronBertEmbeddings::Forward(const Tensor& input_ids,
                                       const Tensor& types) const {
  const Scope scope = module.Enter();
  const Tensor positions =
      SliceRange(module.builder().Read(position_ids), 1, 0, input_ids.size(1));
  const Tensor words = word_embeddings.Forward(input_ids);
  const Tensor typed = token_type_embeddings.Forward(types);
  Tensor embedded = Add(words, typed);
  const Tensor placed = position_embeddings.Forward(positions);
  embedded = AddInto(embedded, placed);
  return dropout.Forward(embedded);
}

MegatronBertOutput::MegatronBertOutput(const Module& at,
                                       const BertLayerConfig& config,
                                       int64_t in)
    : module(at),
      dense(at.Child("dense", RegionKind::kLinear), in, config.hidden, true),
      dropout(at.Child("dropout"), config.hidden_dropout) {}

Tensor MegatronBertOutput::Forward(Tensor hidden,
                                   const Tensor& residual) const {
  const Scope scope = module.Enter();
  hidden = dense.Forward(hidden);
  hidden = dropout.Forward(hidden);
  return Add(residual, hidden);
}

MegatronBertSelfAttention::MegatronBertSelfAttention(
    const Module& at, const BertLayerConfig& config)
    : module(at),
      head_dim(config.head_dim),
      query(at.Child("query", RegionKind::kLinear), config.hidden,
            config.heads * config.head_dim, true),
      key(at.Child("key", RegionKind::kLinear), config.hidden,
          config.heads * config.head_dim, true),
      value(at.Child("value", RegionKind::kLinear), config.hidden,
            config.heads * config.head_dim, true),
      dropout(at.Child("dropout"), config.attention_dropout) {}

Tensor MegatronBertSelfAttention::Forward(const Tensor& hidden,
                                          const Tensor& mask,
                                          CachedLayer* cached) const {
  const Scope scope = module.Enter();
  const Tensor q = SplitHeads(query.Forward(hidden), head_dim);
  Tensor k = SplitHeads(key.Forward(hidden), head_dim);
  Tensor v = SplitHeads(value.Forward(hidden), head_dim);
  if (cached != nullptr) {
    *cached = UpdateEmptyCache(k, v);
    k = cached->keys;
    v = cached->values;
  }
  const ScoredAttention attended =
      AttendByScores(q, k, v, Tensor(), mask, dropout);
  // The weights go back through attention and layer to the encoder.
  module.builder().ReturnBeside(attended.weights, 3);
  return attended.out;
}

MegatronBertAttention::MegatronBertAttention(const Module& at,
                                             const BertLayerConfig& config)
    : module(at),
      ln(at.Child("ln", RegionKind::kNorm), config.hidden, config.norm_epsilon),
      self(at.Child("self"), config),
      output(at.Child("output"), config, config.hidden) {}

Tensor MegatronBertAttention::Forward(const Tensor& hidden, const Tensor& mask,
                                      CachedLayer* cached) const {
  const Scope scope = module.Enter();
  const Tensor normed = ln.Forward(hidden);
  const Tensor attended = self.Forward(normed, mask, cached);
  return output.Forward(attended, hidden);
}

MegatronBertLayer::MegatronBertLayer(const Module& at,
                                     const BertLayerConfig& config)
    : module(at),
      chunk(config.chunk),
      attention(at.Child("attention", RegionKind::kAttention), config),
      crossattention(
          config.cross_attention
              ? std::optional<MegatronBertAttention>(
                    std::in_place,
                    at.Child("crossattention", RegionKind::kAttention), config)
              : std::nullopt),
      ln(at.Child("ln", RegionKind::kNorm), config.hidden, config.norm_epsilon),
      intermediate(at.Child("intermediate", RegionKind::kMlp), config),
      output(at.Child("output", RegionKind::kMlp), config,
             config.intermediate) {}

Tensor MegatronBertLayer::FeedForward(const Tensor& attended) const {
  const Tensor normed = ln.Forward(attended);
  const Tensor widened = intermediate.Forward(normed);
  return output.Forward(widened, attended);
}

Tensor MegatronBertLayer::Forward(const Tensor& hidden, const Tensor& mask,
                                  CachedLayer* cached) const {
  const CheckpointScope checkpoint(module.builder(), {hidden, mask});
  const Scope scope = module.Enter();
  const Tensor attended = attention.Forward(hidden, mask, cached);
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

MegatronBertBody::MegatronBertBody(const Module& at, const BertConfig& settings)
    : module(at),
      config(settings),
      embeddings(at.Child("embeddings"), config),
      encoder(at.Child("encoder")),
      layer([&] {
        const Module list = encoder.Child("layer");
        std::vector<MegatronBertLayer> layers;
        for (int64_t index = 0; index < config.layers; ++index) {
          layers.emplace_back(list.Child(index, RegionKind::kBlock),
                              config.layer);
        }
        return layers;
      }()),
      ln(encoder.Child("ln", RegionKind::kNorm), config.layer.hidden,
         config.layer.norm_epsilon) {}

// The model makes itself a mask of ones, which an encoder looks through.
Tensor MegatronBertBody::Mask(const Tensor& kept,
                              const Tensor& embedded) const {
  if (config.layer.is_decoder) return CausalMaskOver(kept, embedded, "eager");
  const Tensor is_kept = To(kept, DType::kBool);
  LocalScalar(All(is_kept));
  return {};
}

Tensor MegatronBertBody::RunLayers(Tensor hidden, const Tensor& mask,
                                   std::vector<CachedLayer>& cache) const {
  const Scope scope = encoder.Enter();
  // A block that is computed again is given no cache.
  const bool caches =
      config.layer.fills_cache && !module.builder().execution().checkpoint;
  for (const MegatronBertLayer& one : layer) {
    CachedLayer* const cached = caches ? &cache.emplace_back() : nullptr;
    hidden = one.Forward(hidden, mask, cached);
  }
  return ln.Forward(hidden);
}

BertResults MegatronBertBody::Forward(const Tensor& input_ids,
                                      std::string_view /*attention*/) const {
  Builder& builder = module.builder();
  const Shape sizes = input_ids.shape();
  LookForPadding(input_ids, config.padding);
  Tensor mask = Ones(builder, sizes, DType::kFloat32);
  const Tensor types = Zeros(builder, sizes, DType::kInt64);
  const Tensor embedded = embeddings.Forward(input_ids, types);
  mask = Mask(mask, embedded);
  BertResults out;
  out.hidden = RunLayers(embedded, mask, out.cache);
  return out;
}

}  // namespace foretell
