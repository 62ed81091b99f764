#include "models/layers/t5_attention.h"

#include <cmath>
#include <tuple>
#include <utility>

#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/in_place.h"
#include "graph/ops/reduction.h"
#include "graph/ops/views.h"
#include "models/layers/functional.h"
#include "models/layers/plain_attention.h"

namespace foretell {

Tensor WideBuckets(const Tensor& distance, int64_t exact, int64_t buckets,
                   int64_t max_distance, Tensor* ratio) {
  const auto from = static_cast<double>(exact);
  Tensor wide = DivScalar(To(distance, DType::kFloat32), from);
  wide = Log(wide);
  wide = DivScalar(wide, std::log(static_cast<double>(max_distance) / from));
  wide = MulScalar(wide, static_cast<double>(buckets - exact));
  if (ratio != nullptr) *ratio = wide;
  wide = To(wide, DType::kInt64);
  wide = AddScalar(wide, from);
  return Minimum(
      wide, FullLike(wide, static_cast<double>(buckets - 1), DType::kInt64));
}

namespace {

// _relative_position_bucket: [s, t] whole numbers. Both directions share the
// buckets in an encoder; a decoder sees only what lies behind.
Tensor Buckets(const Tensor& relative, bool both_ways,
               const T5LayerConfig& config) {
  int64_t buckets = config.buckets;
  Tensor bucket;
  Tensor distance;
  if (both_ways) {
    buckets /= 2;
    Tensor ahead = To(GtScalar(relative, 0), DType::kInt64);
    ahead = MulScalar(ahead, static_cast<double>(buckets));
    bucket = AddScalar(ahead, 0);
    ahead = Tensor();
    distance = Abs(relative);
  } else {
    distance = Minimum(relative, ZerosLike(relative));
    distance = Neg(distance);
  }
  const int64_t exact = buckets / 2;
  const Tensor is_small = LtScalar(distance, static_cast<double>(exact));
  // UMT5 has a name for the logarithm, which lives as long as the others.
  Tensor ratio;
  const Tensor wide = WideBuckets(distance, exact, buckets, config.max_distance,
                                  config.bias_everywhere ? &ratio : nullptr);
  const Tensor chosen = Where(is_small, distance, wide);
  return both_ways ? AddInto(bucket, chosen) : AddScalar(chosen, 0);
}

}  // namespace

T5Norm::T5Norm(const Module& at, int64_t width, double eps)
    : module(at), weight(at.Parameter("weight", {width})), epsilon(eps) {}

Tensor T5Norm::Forward(Tensor hidden) const {
  const Scope scope = module.Enter();
  Builder& builder = module.builder();
  Tensor variance = To(hidden, DType::kFloat32);
  variance = PowScalar(variance, 2);
  variance = MeanLast(variance);
  {
    Tensor factor = AddScalar(variance, epsilon);
    factor = Rsqrt(factor);
    hidden = Mul(hidden, factor);
  }
  const Tensor scale = builder.Read(weight);
  if (Describe(scale.dtype()).bits == 16) hidden = To(hidden, scale.dtype());
  return Mul(scale, hidden);
}

T5Attention::T5Attention(const Module& at, const T5LayerConfig& settings,
                         bool has_position_bias, bool in_decoder, bool causal)
    : module(at),
      config(settings),
      is_decoder(in_decoder),
      is_causal(causal),
      q(at.Child("q", RegionKind::kLinear), config.width,
        config.heads * config.head_dim, false),
      k(at.Child("k", RegionKind::kLinear), config.width,
        config.heads * config.head_dim, false),
      v(at.Child("v", RegionKind::kLinear), config.width,
        config.heads * config.head_dim, false),
      o(at.Child("o", RegionKind::kLinear), config.heads * config.head_dim,
        config.width, false) {
  if (has_position_bias) {
    relative_attention_bias.emplace(
        at.Child("relative_attention_bias", RegionKind::kEmbedding),
        config.buckets, config.heads);
  }
}

Tensor T5Attention::ComputeBias(int64_t length, int64_t key_length,
                                int64_t past) const {
  Builder& builder = module.builder();
  const Tensor context = [&] {
    return AddScalar(Unsqueeze(Arange(builder, length), 1),
                     static_cast<double>(past));
  }();
  const Tensor memory = Unsqueeze(Arange(builder, key_length), 0);
  const Tensor relative = Sub(memory, context);
  const Tensor buckets = Buckets(relative, !is_decoder, config);
  const Tensor values = relative_attention_bias->Forward(buckets);
  return Unsqueeze(Permute(values, {2, 0, 1}), 0);
}

std::pair<Tensor, Tensor> T5Attention::Project(const Tensor& states) const {
  Tensor key = k.Forward(states);
  Tensor value;
  // UMT5 projects both before either is seen as heads.
  if (config.bias_everywhere) value = v.Forward(states);
  key = SplitHeads(key, config.head_dim);
  if (!config.bias_everywhere) value = v.Forward(states);
  value = SplitHeads(value, config.head_dim);
  return {std::move(key), std::move(value)};
}

std::pair<Tensor, Tensor> T5Attention::Forward(
    const Tensor& hidden, const Tensor& states,
    const T5AttentionCall& call) const {
  const Scope scope = module.Enter();
  const Tensor query = SplitHeads(q.Forward(hidden), config.head_dim);
  Tensor key;
  Tensor value;
  if (call.is_cross && call.cached != nullptr && !call.cached->keys.empty()) {
    key = call.cached->keys;
    value = call.cached->values;
  } else {
    std::tie(key, value) = Project(states);
    if (call.cached != nullptr) {
      std::tie(key, value) = FillCache(*call.cached, key, value, 0);
    }
  }
  Tensor bias = call.position_bias;
  if (bias.empty()) {
    const int64_t length = hidden.size(1);
    const int64_t key_length = key.size(-2);
    Builder& builder = module.builder();
    if (relative_attention_bias) {
      bias = ComputeBias(length, key_length, call.past);
    } else {
      bias =
          Zeros(builder, {1, config.heads, length, key_length}, query.dtype());
      // A leaf of its own, whose gradient nobody reads.
      const Execution& execution = builder.execution();
      if (!config.bias_everywhere && execution.checkpoint &&
          execution.training) {
        builder.RequireGradient(bias);
      }
    }
  }
  PlainAttentionCall plain;
  plain.mask = call.mask;
  plain.position_bias = bias;
  plain.dropout = config.dropout;
  plain.scale = 1;
  plain.causal = is_causal;
  plain.attention = call.attention;
  // T5's own source.
  plain.casts_scores = !module.builder().library().has_t5_sdpa;
  plain.casts_weights = plain.casts_scores;
  plain.returning_levels = 2;
  Tensor out = Contiguous(AttendPlainly(query, key, value, plain));
  out = Reshape(out, {out.size(0), out.size(1), -1});
  out = o.Forward(out);
  return {out, config.bias_everywhere ? Tensor() : bias};
}

}  // namespace foretell
