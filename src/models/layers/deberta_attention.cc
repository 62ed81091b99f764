#include "models/layers/deberta_attention.h"

#include <utility>

#include "graph/ops/activations.h"
#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/in_place.h"
#include "graph/ops/indexing.h"
#include "graph/ops/matmul.h"
#include "graph/ops/reduction.h"
#include "graph/ops/views.h"
#include "models/layers/functional.h"

namespace foretell {
namespace {

// make_log_bucket_position: half of the buckets hold one distance each, the
// others widen with the logarithm. Numbers move no shape, but are written as
// executed.
Tensor WideBuckets(const Tensor& relative, const DebertaLayerConfig& config) {
  Builder& builder = relative.builder();
  const int64_t half = config.buckets / 2;
  const auto middle = static_cast<double>(half);
  const Tensor sign = Sign(relative);
  const auto distance_of = [&] {
    const auto near = [&] {
      const Tensor below = LtScalar(relative, middle);
      const Tensor above = GtScalar(relative, -middle);
      return BitwiseAnd(below, above);
    };
    const Tensor is_near = near();
    const Tensor least = Transfer(LiftFresh(builder, {}, DType::kInt64));
    const Tensor size = Abs(relative);
    return Where(is_near, least, size);
  };
  const Tensor distance = distance_of();
  Tensor wide = Log(DivScalar(distance, middle));
  {
    const Tensor range = Log(LiftFresh(builder, {}, DType::kFloat32));
    wide = Div(wide, range);
  }
  wide = MulScalar(wide, middle - 1);
  wide = Ceil(wide);
  wide = AddScalar(wide, middle);
  const Tensor is_exact = LeScalar(distance, middle);
  const Tensor exact = To(relative, wide.dtype());
  const Tensor signed_wide = Mul(wide, sign);
  return Where(is_exact, exact, signed_wide);
}

}  // namespace

Tensor RelativePositions(Builder& builder, int64_t length,
                         const DebertaLayerConfig& config) {
  const Tensor queries = Arange(builder, length);
  const Tensor keys = Arange(builder, length);
  const auto difference = [&] {
    const Tensor rows = Unsqueeze(queries, 1);
    const Tensor columns = Unsqueeze(keys, 0);
    return Sub(rows, columns);
  };
  Tensor relative = difference();
  if (config.buckets > 0 && config.max_distance > 0) {
    relative = WideBuckets(relative, config);
  }
  relative = To(relative, DType::kInt64);
  relative = SliceRange(relative, 0, 0, length);
  return Unsqueeze(relative, 0);
}

DebertaSelfAttention::DebertaSelfAttention(const Module& at,
                                           const DebertaLayerConfig& settings)
    : module(at),
      config(settings),
      query_proj(at.Child("query_proj", RegionKind::kLinear),
                 config.layer.hidden,
                 config.layer.heads * config.layer.head_dim, true),
      key_proj(at.Child("key_proj", RegionKind::kLinear), config.layer.hidden,
               config.layer.heads * config.layer.head_dim, true),
      value_proj(at.Child("value_proj", RegionKind::kLinear),
                 config.layer.hidden,
                 config.layer.heads * config.layer.head_dim, true),
      dropout(at.Child("dropout"), config.layer.attention_dropout) {
  if (!config.relative) return;
  pos_dropout.emplace(at.Child("pos_dropout"), config.layer.hidden_dropout);
  if (config.shares_keys) return;
  const auto project = [&](std::string_view name) {
    return Linear(at.Child(name, RegionKind::kLinear), config.layer.hidden,
                  config.layer.heads * config.layer.head_dim, true);
  };
  if (config.content_first) pos_key_proj.emplace(project("pos_key_proj"));
  if (config.position_first) pos_query_proj.emplace(project("pos_query_proj"));
}

// transpose_for_scores: [b, s, width] -> [b h, s, d]
Tensor DebertaSelfAttention::Heads(const Tensor& x) const {
  const Tensor split = View(x, {x.size(0), x.size(1), config.layer.heads, -1});
  const Tensor turned = Contiguous(Permute(split, {0, 2, 1, 3}));
  return View(turned, {-1, split.size(1), split.size(3)});
}

// scaled_size_sqrt, of a head's width, computed on the host.
Tensor DebertaSelfAttention::Scale() const {
  const int factor = 1 + static_cast<int>(config.content_first) +
                     static_cast<int>(config.position_first);
  Tensor scale = LiftFresh(module.builder(), {}, DType::kFloat32);
  scale = MulScalar(scale, factor);
  return Sqrt(scale);
}

Tensor DebertaSelfAttention::DistanceScores(const Tensor& query,
                                            const Tensor& key, Tensor positions,
                                            Tensor distances) const {
  positions = Unsqueeze(positions, 1);
  const int64_t span = config.span();
  const auto offset = static_cast<double>(span);
  const auto last = static_cast<double>(2 * span - 1);
  const int64_t batch = query.size(0) / config.layer.heads;
  const int64_t length = key.size(1);
  distances = Unsqueeze(SliceRange(distances, 0, 0, 2 * span), 0);
  const auto project = [&](const Linear& linear) {
    Tensor rows = Heads(linear.Forward(distances));
    return Repeat(std::move(rows), {batch, 1, 1});
  };
  Tensor pos_query;
  Tensor pos_key;
  if (config.shares_keys) {
    pos_query = project(query_proj);
    pos_key = project(key_proj);
  } else {
    if (config.content_first) pos_key = project(*pos_key_proj);
    if (config.position_first) pos_query = project(*pos_query_proj);
  }
  const auto part_of = [&](const Tensor& scores, const Tensor& scale) {
    return Div(scores, To(scale, scores.dtype()));
  };
  Tensor score;
  Tensor scale;
  Tensor by_query;
  Tensor query_places;
  if (config.content_first) {
    scale = Scale();
    by_query = Bmm(query, Transpose(pos_key, -1, -2));
    query_places = Clamp(AddScalar(positions, offset), 0, last);
    by_query = Gather(by_query, -1,
                      Expand(SqueezeAxis(query_places, 0),
                             {query.size(0), query.size(1), length}));
    score = AddScalar(part_of(by_query, scale), 0);
  }
  if (!config.position_first) return score;
  scale = Scale();
  const Tensor key_places = Clamp(AddScalar(Neg(positions), offset), 0, last);
  Tensor by_key = Bmm(key, Transpose(pos_query, -1, -2));
  by_key = Gather(
      by_key, -1,
      Expand(SqueezeAxis(key_places, 0), {query.size(0), length, length}));
  by_key = Transpose(by_key, -1, -2);
  const Tensor part = part_of(by_key, scale);
  return score.empty() ? AddScalar(part, 0) : AddInto(score, part);
}

Tensor DebertaSelfAttention::Forward(const Tensor& hidden, const Tensor& mask,
                                     const Tensor& positions,
                                     Tensor distances) const {
  const Scope scope = module.Enter();
  const int64_t heads = config.layer.heads;
  const Tensor query = Heads(query_proj.Forward(hidden));
  const Tensor key = Heads(key_proj.Forward(hidden));
  const Tensor value = Heads(value_proj.Forward(hidden));
  const Tensor scale = Scale();
  const auto meet = [&] {
    const Tensor turned = Transpose(key, -1, -2);
    const Tensor divisor = To(scale, query.dtype());
    return Bmm(query, Div(turned, divisor));
  };
  Tensor scores = meet();
  Tensor by_distance;
  if (config.relative) {
    distances = pos_dropout->Forward(distances);
    by_distance = DistanceScores(query, key, positions, distances);
    scores =
        by_distance.empty() ? AddScalar(scores, 0) : Add(scores, by_distance);
  }
  scores = View(scores, {-1, heads, scores.size(-2), scores.size(-1)});
  const Tensor seen = To(mask, DType::kBool);
  scores = MaskedFill(scores, BitwiseNot(seen), SmallestOf(query.dtype()));
  Tensor weights = SoftmaxOp(scores, -1);
  weights = dropout.Forward(weights);
  Tensor context =
      Bmm(View(weights, {-1, weights.size(-2), weights.size(-1)}), value);
  const auto turn = [&] {
    const Tensor split =
        View(context, {-1, heads, context.size(-2), context.size(-1)});
    return Contiguous(Permute(split, {0, 2, 1, 3}));
  };
  context = turn();
  return View(context, {context.size(0), context.size(1), -1});
}

}  // namespace foretell
