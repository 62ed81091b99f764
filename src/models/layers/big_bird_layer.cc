#include "models/layers/big_bird_layer.h"

#include <cmath>

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

BigBirdSelfAttention::BigBirdSelfAttention(const Module& at,
                                           const BertLayerConfig& config,
                                           bool has_bias)
    : module(at),
      head_dim(config.head_dim),
      query(at.Child("query", RegionKind::kLinear), config.hidden,
            config.heads * config.head_dim, has_bias),
      key(at.Child("key", RegionKind::kLinear), config.hidden,
          config.heads * config.head_dim, has_bias),
      value(at.Child("value", RegionKind::kLinear), config.hidden,
            config.heads * config.head_dim, has_bias),
      dropout(at.Child("dropout"), config.attention_dropout) {}

Tensor BigBirdSelfAttention::Forward(const Tensor& hidden, const Tensor& mask,
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
  module.builder().ReturnBeside(attended.weights, 2);
  return attended.out;
}

BigBirdAttention::BigBirdAttention(const Module& at,
                                   const BertLayerConfig& config, bool has_bias)
    : module(at),
      self(at.Child("self"), config, has_bias),
      output(at.Child("output"), config, config.hidden) {}

Tensor BigBirdAttention::Forward(const Tensor& hidden, const Tensor& mask,
                                 CachedLayer* cached) const {
  const Scope scope = module.Enter();
  const Tensor attended = self.Forward(hidden, mask, cached);
  return output.Forward(attended, hidden);
}

BigBirdLayer::BigBirdLayer(const Module& at, const BertLayerConfig& config,
                           bool has_bias)
    : module(at),
      chunk(config.chunk),
      attention(at.Child("attention", RegionKind::kAttention), config,
                has_bias),
      crossattention(
          config.cross_attention
              ? std::optional<BigBirdAttention>(
                    std::in_place,
                    at.Child("crossattention", RegionKind::kAttention), config,
                    has_bias)
              : std::nullopt),
      intermediate(at.Child("intermediate", RegionKind::kMlp), config),
      output(at.Child("output", RegionKind::kMlp), config,
             config.intermediate) {}

Tensor BigBirdLayer::FeedForward(const Tensor& attended) const {
  const Tensor widened = intermediate.Forward(attended);
  return output.Forward(widened, attended);
}

Tensor BigBirdLayer::Forward(const Tensor& hidden, const Tensor& mask,
                             CachedLayer* cached) const {
  const CheckpointScope checkpoint(module.builder(), {hidden}, {mask});
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

BigBirdBody::BigBirdBody(const Module& at, const BertConfig& settings,
                         const BigBirdForm& shape, bool has_pooler)
    : module(at),
      config(settings),
      form(shape),
      embeddings(at.Child("embeddings"), config.layer, config.vocabulary,
                 config.positions, config.types),
      encoder(at.Child("encoder")),
      layer([&] {
        const Module list = encoder.Child("layer");
        std::vector<BigBirdLayer> layers;
        for (int64_t index = 0; index < config.layers; ++index) {
          layers.emplace_back(list.Child(index, RegionKind::kBlock),
                              config.layer, form.has_bias);
        }
        return layers;
      }()) {
  if (!has_pooler) return;
  pooler.emplace(at.Child("pooler", RegionKind::kLinear), config.layer.hidden,
                 config.layer.hidden, true);
  activation.emplace(at.Child("activation"), Activation::kTanh);
}

Tensor BigBirdBody::Embed(const Tensor& input_ids, const Tensor& types) const {
  const Scope scope = embeddings.module.Enter();
  Builder& builder = module.builder();
  const Tensor positions = SliceRange(builder.Read(embeddings.position_ids), 1,
                                      0, input_ids.size(1));
  Tensor words = embeddings.word_embeddings.Forward(input_ids);
  if (form.rescales) {
    words =
        MulScalar(words, std::sqrt(static_cast<double>(config.layer.hidden)));
  }
  const Tensor typed = embeddings.token_type_embeddings.Forward(types);
  Tensor embedded = Add(words, typed);
  const Tensor placed = embeddings.position_embeddings.Forward(positions);
  embedded = AddInto(embedded, placed);
  embedded = embeddings.dropout.Forward(embedded);
  return embeddings.norm.Forward(embedded);
}

// The model makes itself a mask of ones, which an encoder looks through.
Tensor BigBirdBody::Mask(const Tensor& kept, const Tensor& embedded) const {
  if (config.layer.is_decoder) return CausalMaskOver(kept, embedded, "eager");
  const Tensor is_kept = To(kept, DType::kBool);
  LocalScalar(All(is_kept));
  return {};
}

Tensor BigBirdBody::RunLayers(Tensor hidden, const Tensor& mask,
                              std::vector<CachedLayer>& cache) const {
  const Scope scope = encoder.Enter();
  // A block that is computed again is given no cache.
  const bool caches =
      config.layer.fills_cache && !module.builder().execution().checkpoint;
  for (const BigBirdLayer& one : layer) {
    CachedLayer* const cached = caches ? &cache.emplace_back() : nullptr;
    hidden = one.Forward(hidden, mask, cached);
  }
  return hidden;
}

BertResults BigBirdBody::Forward(const Tensor& input_ids) const {
  const Scope scope = module.Enter();
  Builder& builder = module.builder();
  const int64_t batch = input_ids.size(0);
  const int64_t length = input_ids.size(1);
  const bool attends_to_all = !form.sparse || config.layer.cross_attention;
  if (!attends_to_all && length > form.reach) {
    builder.Fail(
        "attention over blocks, which a longer sequence takes, is not derived");
  }
  LookForPadding(input_ids, config.padding);
  Tensor mask = Ones(builder, {batch, length}, DType::kFloat32);
  const Tensor row =
      SliceRange(builder.Read(embeddings.token_type_ids), 1, 0, length);
  const Tensor types = Expand(row, {batch, length});
  const Tensor embedded = Embed(input_ids, types);
  mask = Mask(mask, embedded);
  BertResults out;
  out.hidden = RunLayers(embedded, mask, out.cache);
  if (!pooler) return out;
  const auto pool = [&] { return pooler->Forward(Select(out.hidden, 1, 0)); };
  out.pooled = activation->Forward(pool());
  return out;
}

}  // namespace foretell
