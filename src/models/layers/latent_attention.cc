#include "models/layers/latent_attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "graph/ops/activations.h"
#include "graph/ops/complex.h"
#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/in_place.h"
#include "graph/ops/indexing.h"
#include "graph/ops/sorting.h"
#include "graph/ops/views.h"
#include "graph/view_write.h"
#include "models/layers/attention.h"
#include "models/layers/check_fields.h"
#include "models/layers/functional.h"
#include "models/layers/read_decoder.h"

namespace foretell {
namespace {

constexpr int64_t kToTheEnd = std::numeric_limits<int64_t>::max();

int64_t QueryWidth(const LatentConfig& config) {
  return config.heads * config.key_dim();
}

// Neighbours seen as complex numbers, turned by a product with others.
Tensor TurnComplex(const Tensor& pairs, const Tensor& turns,
                   const Tensor& like) {
  const auto product = [&] { return ViewAsReal(Mul(pairs, turns)); };
  const Tensor turned = product();
  return To(Reshape(turned, like.shape()), like.dtype());
}

std::pair<Tensor, Tensor> ApplyComplexRotary(const Tensor& q, const Tensor& k,
                                             const Tensor& turns_bsd) {
  const auto pair_up = [](const Tensor& x) {
    Shape shape = x.shape();
    shape.Set(-1, -1);
    shape.Append(2);
    return ViewAsComplex(Reshape(To(x, DType::kFloat32), shape));
  };
  const Tensor q_pairs = pair_up(q);
  const Tensor k_pairs = pair_up(k);
  const Tensor turns = Unsqueeze(turns_bsd, 1);
  const Tensor q_turned = TurnComplex(q_pairs, turns, q);
  return {q_turned, TurnComplex(k_pairs, turns, k)};
}

std::pair<Tensor, Tensor> Turn(const LatentConfig& config, const Tensor& q,
                               const Tensor& k,
                               const std::pair<Tensor, Tensor>& rotary) {
  switch (config.turn) {
    case LatentTurn::kInterleaved:
      return ApplyInterleavedRotary(q, k, rotary.first, rotary.second);
    case LatentTurn::kHalves:
      return ApplyRotary(q, k, rotary.first, rotary.second);
    case LatentTurn::kComplex:
      break;
  }
  return ApplyComplexRotary(q, k, rotary.first);
}

// torch.no_grad() for as long as it lives.
class NoGradient {
 public:
  explicit NoGradient(Builder& builder)
      : builder_(builder), before_(builder.execution()) {
    Execution without = before_;
    without.gradients = false;
    builder.set_execution(without);
  }
  ~NoGradient() { builder_.set_execution(before_); }
  NoGradient(const NoGradient&) = delete;
  NoGradient& operator=(const NoGradient&) = delete;

 private:
  Builder& builder_;
  Execution before_;
};

}  // namespace

LatentAttention::LatentAttention(const Module& at, const LatentConfig& settings)
    : module(at),
      config(settings),
      q_proj(config.q_rank ? std::nullopt
                           : std::optional(Linear(
                                 at.Child("q_proj", RegionKind::kLinear),
                                 config.hidden, QueryWidth(config), false))),
      q_a_proj(config.q_rank ? std::optional(Linear(
                                   at.Child("q_a_proj", RegionKind::kLinear),
                                   config.hidden, *config.q_rank, config.bias))
                             : std::nullopt),
      q_a_layernorm(config.q_rank
                        ? std::optional(RmsNorm(
                              at.Child("q_a_layernorm", RegionKind::kNorm),
                              *config.q_rank, config.norm_epsilon))
                        : std::nullopt),
      q_b_proj(config.q_rank ? std::optional(Linear(
                                   at.Child("q_b_proj", RegionKind::kLinear),
                                   *config.q_rank, QueryWidth(config), false))
                             : std::nullopt),
      kv_a_proj_with_mqa(at.Child("kv_a_proj_with_mqa", RegionKind::kLinear),
                         config.hidden, config.kv_rank + config.rope_dim,
                         config.bias),
      kv_a_layernorm(at.Child("kv_a_layernorm", RegionKind::kNorm),
                     config.kv_rank, config.norm_epsilon),
      kv_b_proj(at.Child("kv_b_proj", RegionKind::kLinear), config.kv_rank,
                config.heads * (config.nope_dim + config.value_dim), false),
      o_proj(at.Child("o_proj", RegionKind::kLinear),
             config.heads * config.value_dim, config.hidden, config.bias) {
  if (config.indexer) indexer.emplace(at.Child("indexer"), config);
}

std::pair<Tensor, Tensor> LatentAttention::Widen(const Tensor& latent,
                                                 const Tensor& turned) const {
  const int64_t batch = latent.size(0);
  const int64_t length = latent.size(2);
  const Tensor wide =
      Transpose(View(kv_b_proj.Forward(latent),
                     {batch, length, -1, config.nope_dim + config.value_dim}),
                1, 2);
  const std::vector<Tensor> parts =
      SplitSizes(wide, {config.nope_dim, config.value_dim}, -1);
  const Tensor repeated = Expand(turned, {-1, parts[0].size(1), -1, -1});
  Shape shape = wide.shape();
  shape.Set(-1, config.key_dim());
  Tensor keys = NewEmpty(wide, shape);
  const auto write = [&](Tensor place, const Tensor& part) {
    keys = WriteThrough(keys, std::move(place), [&](Tensor view) {
             return CopyInto(std::move(view), part);
           }).base;
  };
  write(Slice(keys, 3, 0, config.nope_dim), parts[0]);
  write(Slice(keys, 3, config.nope_dim, kToTheEnd), repeated);
  return {keys, parts[1]};
}

Tensor LatentAttention::OtherKeys(const Tensor& hidden, const Tensor& keys,
                                  const Tensor& chosen) const {
  const auto leave = [&] {
    const Shape shape = {hidden.size(0), hidden.size(1), keys.size(2)};
    const Tensor all = NewOnes(chosen, shape, DType::kBool);
    return ScatterFill(all, -1, To(chosen, DType::kInt64), 0);
  };
  return Unsqueeze(leave(), 1);
}

Tensor LatentAttention::Forward(const Tensor& hidden,
                                const std::pair<Tensor, Tensor>& rotary,
                                const Tensor& mask, std::string_view attention,
                                CachedLayer* cached, Tensor* chosen) const {
  const Scope scope = module.Enter();
  const int64_t batch = hidden.size(0);
  const int64_t length = hidden.size(1);
  // Only a sparse layer gives the narrow queries a name.
  Tensor narrow;
  Tensor q;
  if (q_proj) {
    q = q_proj->Forward(hidden);
  } else {
    narrow = q_a_layernorm->Forward(q_a_proj->Forward(hidden));
    q = q_b_proj->Forward(narrow);
    if (!config.is_sparse) narrow = Tensor();
  }
  q = Transpose(View(q, {batch, length, -1, config.key_dim()}), 1, 2);
  std::vector<Tensor> q_parts =
      SplitSizes(q, {config.nope_dim, config.rope_dim}, -1);
  const Tensor compressed = kv_a_proj_with_mqa.Forward(hidden);
  std::vector<Tensor> kv_parts =
      SplitSizes(compressed, {config.kv_rank, config.rope_dim}, -1);
  if (q_parts.size() != 2 || kv_parts.size() != 2) return hidden;
  Tensor& latent = kv_parts[0];
  Tensor& k_turned = kv_parts[1];
  latent = kv_a_layernorm.Forward(latent);
  latent = View(latent, {batch, 1, length, config.kv_rank});
  k_turned = View(k_turned, {batch, 1, length, config.rope_dim});
  std::tie(q_parts[1], k_turned) = Turn(config, q_parts[1], k_turned, rotary);
  if (cached != nullptr) {
    std::tie(latent, k_turned) =
        FillCache(*cached, latent, k_turned, /*window=*/0);
  }
  const Tensor queries = Cat2(q_parts[0], q_parts[1], -1);
  const auto [keys, values] = Widen(latent, k_turned);
  Tensor met;
  Tensor others;
  Tensor narrowed;
  if (config.is_sparse) {
    if (indexer) {
      met =
          indexer->Forward(hidden, narrow, rotary, Select(mask, 1, 0), cached);
    } else if (chosen != nullptr && !chosen->empty()) {
      met = *chosen;
    } else {
      module.builder().Fail(
          "no layer before this one has an indexer whose choice it could take");
      return hidden;
    }
    others = OtherKeys(hidden, keys, met);
    narrowed = mask.dtype() == DType::kBool
                   ? BitwiseAnd(mask, BitwiseNot(others))
                   : MaskedFill(mask, others, SmallestOf(hidden.dtype()));
  }
  AttentionCall call;
  call.mask = config.is_sparse ? narrowed : mask;
  call.dropout = config.dropout;
  call.scale = 1 / std::sqrt(static_cast<double>(config.key_dim()));
  call.attention = attention;
  const Tensor out = Attend(queries, keys, values, call);
  if (chosen != nullptr) *chosen = met;
  return o_proj.Forward(Reshape(out, {batch, length, -1}));
}

Indexer::Indexer(const Module& at, const LatentConfig& attention)
    : module(at),
      config(*attention.indexer),
      rope_dim(attention.rope_dim),
      wq_b(at.Child("wq_b", RegionKind::kLinear), attention.q_rank.value_or(0),
           config.heads * config.head_dim, false),
      wk(at.Child("wk", RegionKind::kLinear), attention.hidden, config.head_dim,
         false),
      k_norm(at.Child("k_norm", RegionKind::kNorm), config.head_dim, 1e-6),
      weights_proj(at.Child("weights_proj", RegionKind::kLinear),
                   attention.hidden, config.heads, false) {}

Tensor Indexer::Forward(const Tensor& hidden, const Tensor& narrow,
                        const std::pair<Tensor, Tensor>& rotary,
                        const Tensor& mask, CachedLayer* cached) const {
  const Scope scope = module.Enter();
  const NoGradient no_gradient(module.builder());
  const int64_t batch = hidden.size(0);
  const int64_t length = hidden.size(1);
  const Shape parts = {rope_dim, config.head_dim - rope_dim};
  Tensor q = View(wq_b.Forward(narrow),
                  {batch, length, config.heads, config.head_dim});
  std::vector<Tensor> q_parts = SplitSizes(q, parts, -1);
  const auto keys_of = [&] {
    const Tensor plain = wk.Forward(hidden);
    return k_norm.Forward(plain);
  };
  Tensor k = Unsqueeze(keys_of(), 2);
  std::vector<Tensor> k_parts = SplitSizes(k, parts, -1);
  if (q_parts.size() != 2 || k_parts.size() != 2) return hidden;
  std::tie(q_parts[0], k_parts[0]) =
      config.interleaves
          ? ApplyInterleavedRotary(q_parts[0], k_parts[0], rotary.first,
                                   rotary.second, 2)
          : ApplyRotaryAt(q_parts[0], k_parts[0], rotary.first, rotary.second,
                          2);
  q = Cat2(q_parts[0], q_parts[1], -1);
  k = SqueezeAxis(Cat2(k_parts[0], k_parts[1], -1), 2);
  if (cached != nullptr) k = FillIndexer(*cached, k);
  const auto score = [&] {
    const Tensor exact = To(q, DType::kFloat32);
    const auto keys = [&] {
      return Unsqueeze(To(Transpose(k, -1, -2), DType::kFloat32), 1);
    };
    return Matmul(exact, keys());
  };
  Tensor scores =
      MulScalar(score(), 1 / std::sqrt(static_cast<double>(config.head_dim)));
  scores = Relu(scores);
  const Tensor weights =
      MulScalar(To(weights_proj.Forward(hidden), DType::kFloat32),
                1 / std::sqrt(static_cast<double>(config.heads)));
  Tensor sums = SqueezeAxis(Matmul(Unsqueeze(weights, -2), scores), -2);
  sums = mask.dtype() == DType::kBool
             ? MaskedFill(sums, BitwiseNot(mask),
                          -std::numeric_limits<double>::infinity())
             : Add(sums, mask);
  const int64_t count = std::min(config.top_k, sums.size(-1));
  const auto places = [&] { return TopK(sums, count).second; };
  return To(places(), DType::kInt32);
}

std::pair<Tensor, Tensor> ApplyInterleavedRotary(const Tensor& q,
                                                 const Tensor& k,
                                                 Tensor cosines, Tensor sines,
                                                 int axis) {
  const auto halve = [axis](const Tensor& x) {
    const int last = x.shape().rank() - 1;
    return Unsqueeze(SliceRange(x, last, 0, x.size(-1) / 2), axis);
  };
  cosines = halve(cosines);
  sines = halve(sines);
  const auto every_other = [](const Tensor& x, int64_t first) {
    return Slice(x, x.shape().rank() - 1, first, kToTheEnd, 2);
  };
  const Tensor q_even = every_other(q, 0);
  const Tensor q_odd = every_other(q, 1);
  const Tensor k_even = every_other(k, 0);
  const Tensor k_odd = every_other(k, 1);
  const auto turn = [&](const Tensor& even, const Tensor& odd) {
    const auto less = [&] {
      const Tensor straight = Mul(even, cosines);
      return Sub(straight, Mul(odd, sines));
    };
    const auto more = [&] {
      const Tensor straight = Mul(odd, cosines);
      return Add(straight, Mul(even, sines));
    };
    const Tensor first = less();
    return Cat2(first, more(), -1);
  };
  const Tensor q_turned = turn(q_even, q_odd);
  return {q_turned, turn(k_even, k_odd)};
}

LatentConfig ReadLatent(const ConfigView& config,
                        const LatentDefaults& defaults) {
  const AttentionConfig heads =
      ReadHeads(config, {.hidden = defaults.hidden,
                         .heads = defaults.heads,
                         .dropout_may_be_null = defaults.dropout_may_be_null});
  LatentConfig out;
  out.hidden = heads.hidden;
  out.heads = heads.heads;
  out.dropout = heads.dropout;
  const bool is_stated = config.Raw("num_key_value_heads") != nullptr;
  int64_t kv_heads = heads.heads;
  if (!defaults.kv_heads_may_be_null) {
    kv_heads = config.Size({"num_key_value_heads"},
                           defaults.kv_heads.value_or(heads.heads));
  } else if (is_stated || !defaults.kv_heads) {
    kv_heads = SizeOrDerived(config, "num_key_value_heads", heads.heads);
  } else {
    kv_heads = config.Size({"num_key_value_heads"}, *defaults.kv_heads);
  }
  if (heads.heads / kv_heads != 1) {
    config.Find("model/kv-heads", Severity::kBlock, "num_key_value_heads",
                fmt::format("num_attention_heads {} over num_key_value_heads "
                            "{} is not one",
                            heads.heads, kv_heads),
                "keys are widened to all heads already and would be repeated; "
                "the forward fails on the shapes",
                fmt::format("set num_key_value_heads to {}", heads.heads));
  }
  const bool is_plain = defaults.q_rank_may_be_null &&
                        config.Raw("q_lora_rank") != nullptr &&
                        !config.Has("q_lora_rank");
  if (!is_plain) out.q_rank = config.Size({"q_lora_rank"}, defaults.q_rank);
  out.kv_rank = config.Size({"kv_lora_rank"}, defaults.kv_rank);
  out.nope_dim = config.Size({"qk_nope_head_dim"}, defaults.nope_dim);
  out.rope_dim = defaults.rope_alias.empty()
                     ? config.Size({"qk_rope_head_dim"}, defaults.rope_dim)
                     : config.Size({defaults.rope_alias, "qk_rope_head_dim"},
                                   defaults.rope_dim);
  out.value_dim = config.Size({"v_head_dim"}, defaults.value_dim);
  out.bias = config.Flag({"attention_bias"}, false);
  return out;
}

int64_t ReadTurnedDim(const ConfigView& config, const LatentConfig& attention,
                      bool is_field) {
  const bool is_stated = config.Raw("head_dim") != nullptr;
  if (is_stated && (!is_field || config.config().is_loaded)) {
    return config.Size({"head_dim"}, attention.rope_dim);
  }
  if (is_field) CheckFields(config, {{"head_dim", FieldKind::kWhole, true}});
  config.Derive("head_dim",
                ConfigValue::Number(std::to_string(attention.rope_dim)));
  return attention.rope_dim;
}

void CheckLatentRope(const ConfigView& config, const RopeConfig& rope,
                     const LatentConfig& attention) {
  if (rope.frequencies * 2 != attention.rope_dim) {
    config.Find("model/rope", Severity::kBlock, "qk_rope_head_dim",
                fmt::format("there are angles for {} dims, and {} are turned",
                            rope.frequencies * 2, attention.rope_dim),
                "the forward fails on the shapes",
                "remove head_dim and partial_rotary_factor, and choose an even "
                "qk_rope_head_dim");
  }
  if (rope.type == "default" || rope.factor) return;
  const ConfigView nested = RopeSettings(config);
  const ConfigValue* mscale = nested.Raw("mscale_all_dim");
  const auto number = mscale ? mscale->AsReal() : std::nullopt;
  if (!number || *number == 0) return;
  nested.Find(
      "model/rope", Severity::kBlock, "mscale_all_dim",
      fmt::format("mscale_all_dim {} has no factor to be applied to", *number),
      "the class works out the scale of its scores from "
      "both and fails",
      fmt::format("state {}", nested.PathOf("factor")));
}

LayerState StateOf(const LatentConfig& attention) {
  LayerState state;
  state.kind = LayerState::Kind::kLatent;
  state.heads = 1;
  state.key_dim = attention.kv_rank;
  state.value_dim = attention.rope_dim;
  if (attention.indexer) state.index_dim = attention.indexer->head_dim;
  return state;
}

}  // namespace foretell
