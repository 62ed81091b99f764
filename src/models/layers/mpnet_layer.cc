#include "models/layers/mpnet_layer.h"

#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/in_place.h"
#include "graph/ops/reduction.h"
#include "graph/ops/views.h"
#include "models/layers/functional.h"
#include "models/layers/plain_attention.h"
#include "models/layers/scored_attention.h"
#include "models/layers/t5_attention.h"

namespace foretell {
namespace {

constexpr int64_t kPadding = 1;
constexpr int64_t kBuckets = 32;
constexpr int64_t kMaxDistance = 128;

// create_position_ids_from_input_ids
Tensor CountPositions(const Tensor& input_ids) {
  constexpr auto kOwn = static_cast<double>(kPadding);
  const Tensor mask = To(NeScalar(input_ids, kOwn), DType::kInt32);
  const Tensor counted = Mul(To(Cumsum(mask, 1), DType::kInt32), mask);
  return AddScalar(To(counted, DType::kInt64), kOwn);
}

// relative_position_bucket: half of the buckets for what lies ahead.
Tensor Buckets(const Tensor& relative) {
  constexpr int64_t kHalf = kBuckets / 2;
  constexpr int64_t kExact = kHalf / 2;
  Tensor distance = Neg(relative);
  const auto begin = [&] {
    Tensor ahead = To(LtScalar(distance, 0), DType::kInt64);
    ahead = MulScalar(ahead, static_cast<double>(kHalf));
    return AddScalar(ahead, 0);
  };
  const Tensor bucket = begin();
  distance = Abs(distance);
  const Tensor is_small = LtScalar(distance, static_cast<double>(kExact));
  const Tensor wide = WideBuckets(distance, kExact, kHalf, kMaxDistance);
  return AddInto(bucket, Where(is_small, distance, wide));
}

}  // namespace

MpnetEmbeddings::MpnetEmbeddings(const Module& at, const BertConfig& config)
    : module(at),
      word_embeddings(at.Child("word_embeddings", RegionKind::kEmbedding),
                      config.vocabulary, config.layer.hidden),
      position_embeddings(
          at.Child("position_embeddings", RegionKind::kEmbedding),
          config.positions, config.layer.hidden),
      norm(at.Child("LayerNorm", RegionKind::kNorm), config.layer.hidden,
           config.layer.norm_epsilon),
      dropout(at.Child("dropout"), config.layer.hidden_dropout) {
  WholeNumberBuffer(at, "position_ids", config.positions);
  word_embeddings.module.MarkInputEmbeddings();
}

Tensor MpnetEmbeddings::Forward(const Tensor& input_ids) const {
  const Scope scope = module.Enter();
  const Tensor positions = CountPositions(input_ids);
  const Tensor words = word_embeddings.Forward(input_ids);
  const Tensor placed = position_embeddings.Forward(positions);
  Tensor embedded = Add(words, placed);
  embedded = norm.Forward(embedded);
  return dropout.Forward(embedded);
}

MpnetSelfAttention::MpnetSelfAttention(const Module& at,
                                       const BertLayerConfig& config)
    : module(at),
      head_dim(config.head_dim),
      q(at.Child("q", RegionKind::kLinear), config.hidden,
        config.heads * config.head_dim, true),
      k(at.Child("k", RegionKind::kLinear), config.hidden,
        config.heads * config.head_dim, true),
      v(at.Child("v", RegionKind::kLinear), config.hidden,
        config.heads * config.head_dim, true),
      o(at.Child("o", RegionKind::kLinear), config.hidden, config.hidden, true),
      dropout(at.Child("dropout"), config.attention_dropout) {}

Tensor MpnetSelfAttention::Forward(const Tensor& hidden,
                                   const Tensor& bias) const {
  const Scope scope = module.Enter();
  const Tensor query = SplitHeads(q.Forward(hidden), head_dim);
  const Tensor key = SplitHeads(k.Forward(hidden), head_dim);
  const Tensor value = SplitHeads(v.Forward(hidden), head_dim);
  const ScoredAttention attended =
      AttendByScores(query, key, value, bias, Tensor(), dropout);
  return o.Forward(attended.out);
}

MpnetAttention::MpnetAttention(const Module& at, const BertLayerConfig& config)
    : module(at),
      attn(at.Child("attn"), config),
      norm(at.Child("LayerNorm", RegionKind::kNorm), config.hidden,
           config.norm_epsilon),
      dropout(at.Child("dropout"), config.hidden_dropout) {}

Tensor MpnetAttention::Forward(const Tensor& hidden, const Tensor& bias) const {
  const Scope scope = module.Enter();
  const Tensor attended = attn.Forward(hidden, bias);
  const auto join = [&] { return Add(dropout.Forward(attended), hidden); };
  return norm.Forward(join());
}

MpnetLayer::MpnetLayer(const Module& at, const BertLayerConfig& config)
    : module(at),
      attention(at.Child("attention", RegionKind::kAttention), config),
      intermediate(at.Child("intermediate", RegionKind::kMlp), config),
      output(at.Child("output", RegionKind::kMlp), config,
             config.intermediate) {}

Tensor MpnetLayer::Forward(const Tensor& hidden, const Tensor& bias) const {
  const Scope scope = module.Enter();
  const Tensor attended = attention.Forward(hidden, bias);
  const Tensor widened = intermediate.Forward(attended);
  return output.Forward(widened, attended);
}

MpnetEncoder::MpnetEncoder(const Module& at, const BertConfig& config,
                           int64_t buckets)
    : module(at),
      layer([&] {
        const Module list = at.Child("layer");
        std::vector<MpnetLayer> layers;
        for (int64_t index = 0; index < config.layers; ++index) {
          layers.emplace_back(list.Child(index, RegionKind::kBlock),
                              config.layer);
        }
        return layers;
      }()),
      relative_attention_bias(
          at.Child("relative_attention_bias", RegionKind::kEmbedding), buckets,
          config.layer.heads) {}

Tensor MpnetEncoder::ComputeBias(const Tensor& hidden) const {
  Builder& builder = module.builder();
  const int64_t batch = hidden.size(0);
  const int64_t length = hidden.size(1);
  const Tensor context = Unsqueeze(Arange(builder, length), 1);
  const Tensor memory = Unsqueeze(Arange(builder, length), 0);
  const Tensor relative = Sub(memory, context);
  const Tensor bucket = Buckets(relative);
  Tensor values = relative_attention_bias.Forward(bucket);
  values = Unsqueeze(Permute(values, {2, 0, 1}), 0);
  return Contiguous(Expand(values, {batch, -1, length, length}));
}

Tensor MpnetEncoder::Forward(Tensor hidden) const {
  const Scope scope = module.Enter();
  if (module.builder().execution().checkpoint) {
    module.builder().Fail("the class does not support checkpointing");
  }
  const Tensor bias = ComputeBias(hidden);
  for (const MpnetLayer& one : layer) hidden = one.Forward(hidden, bias);
  return hidden;
}

}  // namespace foretell
