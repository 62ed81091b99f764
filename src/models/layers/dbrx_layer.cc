#include "models/layers/dbrx_layer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <tuple>
#include <vector>

#include "graph/ops/activations.h"
#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/in_place.h"
#include "graph/ops/indexing.h"
#include "graph/ops/matmul.h"
#include "graph/ops/reduction.h"
#include "graph/ops/sorting.h"
#include "graph/ops/views.h"
#include "models/layers/dropout.h"
#include "models/layers/functional.h"
#include "models/layers/jitter.h"

namespace foretell {
namespace {

constexpr double kNormEpsilon = 1e-5;  // torch's own

// one_hot(experts [tokens, per_token]) as [experts + 1, per_token, tokens].
Tensor MaskOf(const Tensor& chosen, int64_t experts) {
  Shape shape = chosen.shape();
  shape.Append(experts + 1);
  const Tensor hot = Zeros(chosen.builder(), shape, DType::kInt64);
  ScatterValue(hot, -1, Unsqueeze(chosen, -1), 1);
  return Permute(hot, {2, 1, 0});
}

}  // namespace

DbrxAttention::DbrxAttention(const Module& at, const AttentionConfig& settings)
    : module(at),
      config(settings),
      wqkv(at.Child("Wqkv", RegionKind::kLinear), settings.hidden,
           settings.hidden + 2 * settings.kv_heads * settings.head_dim, false),
      out_proj(at.Child("out_proj", RegionKind::kLinear), settings.hidden,
               settings.hidden, false) {}

Tensor DbrxAttention::Forward(const Tensor& hidden,
                              const DecoderContext& context) const {
  const Scope scope = module.Enter();
  const int64_t batch = hidden.size(0);
  const int64_t length = hidden.size(1);
  Tensor qkv = wqkv.Forward(hidden);
  // Without a limit the class clamps by none, which fails.
  if (config.clip) qkv = Clamp(qkv, -*config.clip, *config.clip);
  const int64_t k_end = config.hidden + config.kv_heads * config.head_dim;
  Tensor q = Slice(qkv, 2, 0, config.hidden);
  Tensor k = Slice(qkv, 2, config.hidden, k_end);
  Tensor v = Slice(qkv, 2, k_end, std::numeric_limits<int64_t>::max());
  for (Tensor* one : {&q, &k, &v}) {
    *one = View(*one, {batch, length, -1, config.head_dim});
    *one = Transpose(*one, 1, 2);
  }
  std::tie(q, k) =
      ApplyRotary(q, k, context.rotary.first, context.rotary.second);
  CachedLayer* cached = nullptr;
  if (context.fills_cache) cached = context.output->NextLayer();
  const Tensor out =
      AttendOverCache(config, q, k, v, context.mask, context.attention, cached);
  return out_proj.Forward(out);
}

DbrxExperts::DbrxExperts(const Module& at, const DbrxExpertsConfig& settings)
    : module(at),
      config(settings),
      router(at.Child("router", RegionKind::kRouter)
                 .Child("layer", RegionKind::kLinear),
             settings.hidden, settings.experts, false),
      experts(at.Child("experts", RegionKind::kExperts)),
      w1(),
      v1(),
      w2() {
  const Module mlp = experts.Child("mlp");
  const auto table = [&](std::string_view name) {
    const ParameterId id = mlp.Parameter(
        name, {config.experts * config.intermediate, config.hidden});
    at.builder().MarkExperts(id, config.experts, config.per_token);
    return id;
  };
  w1 = table("w1");
  v1 = table("v1");
  w2 = table("w2");
}

Tensor DbrxExperts::Forward(const Tensor& hidden,
                            std::vector<Tensor>* kept) const {
  const Scope scope = module.Enter();
  const Tensor seen = ApplyJitter(hidden, config.jitter);
  const Tensor logits = router.Forward(View(seen, {-1, config.hidden}));
  if (config.keeps_logits) kept->push_back(logits);
  const Tensor probabilities = SoftmaxOp(logits, 1);
  auto [weights, chosen] = TopK(probabilities, config.per_token);
  // A norm of the first order of numbers above zero is their sum.
  if (config.normalizes) {
    weights = Div(weights, SumOver(weights, -1, /*keep=*/true));
  }
  return Run(hidden, weights, chosen);
}

Tensor DbrxExperts::Run(const Tensor& hidden, const Tensor& weights,
                        const Tensor& chosen) const {
  const Scope scope = experts.Enter();
  Builder& builder = experts.builder();
  const Tensor flat = Reshape(hidden, {-1, config.hidden});
  const int64_t pairs = flat.size(0) * config.per_token;
  const int64_t hit_count = std::min(pairs, config.experts);
  builder.Assume(
      fmt::format("tokens spread evenly over {} experts, {} to each token",
                  config.experts, config.per_token));
  Tensor out = ZerosLike(flat);
  const Tensor mask = MaskOf(chosen, config.experts);
  const Tensor hit =
      Nonzero(GtScalar(SumAxes(mask, {1, 2}, false), 0), hit_count);
  const std::vector<Tensor> indices =
      hit_count > 0 ? Unbind(hit, 0) : std::vector<Tensor>();
  const auto slice = [&](ParameterId table, const Tensor& index, int64_t at) {
    const Tensor each =
        View(builder.Read(table),
             {config.experts, config.intermediate, config.hidden});
    LocalScalar(index);
    return Select(each, 0, at);
  };
  // Python's names outlive each turn of the loop.
  Tensor index;
  std::vector<Tensor> places;
  Tensor gate_of;
  Tensor up_of;
  Tensor down_of;
  Tensor states;
  for (int64_t expert = 0; expert < hit_count; ++expert) {
    index = Select(indices[static_cast<size_t>(expert)], 0, 0);
    LocalScalar(index);
    const int64_t count =
        pairs / config.experts + (expert < pairs % config.experts ? 1 : 0);
    places = Unbind(Nonzero(Select(mask, 0, expert), count), 1);
    up_of = slice(v1, index, expert);
    gate_of = slice(w1, index, expert);
    down_of = slice(w2, index, expert);
    const auto run = [&] {
      const Tensor rows = Index(flat, std::span(&places[1], 1));
      Tensor gate = ApplyLinear(rows, gate_of, Tensor());
      const Tensor up = ApplyLinear(rows, up_of, Tensor());
      gate = Activate(config.activation, gate);
      const Tensor between = Mul(gate, up);
      return Mm(between, down_of);
    };
    states = run();
    const auto weighted = [&] {
      const std::array<Tensor, 2> at = {places[1], places[0]};
      return Mul(View(states, {-1, config.hidden}),
                 Unsqueeze(Index(weights, at), -1));
    };
    states = weighted();
    out = IndexAdd(out, places[1], states);
  }
  return View(out, hidden.shape());
}

DbrxLayer::DbrxLayer(const Module& at, const AttentionConfig& attention,
                     const DbrxExpertsConfig& experts, double rate)
    : module(at),
      outer(at.Child("norm_attn_norm")),
      norm_1(outer.Child("norm_1", RegionKind::kNorm), attention.hidden,
             kNormEpsilon),
      attn(outer.Child("attn", RegionKind::kAttention), attention),
      norm_2(outer.Child("norm_2", RegionKind::kNorm), attention.hidden,
             kNormEpsilon),
      ffn(at.Child("ffn", RegionKind::kMlp), experts),
      dropout(rate) {}

Tensor DbrxLayer::Forward(const Tensor& input,
                          const DecoderContext& context) const {
  const CheckpointScope checkpoint(
      module.builder(), {input},
      {context.mask, context.rotary.first, context.rotary.second,
       context.position_ids});
  const Scope scope = module.Enter();
  Tensor residual;
  Tensor hidden;
  {
    const Scope inner = outer.Enter();
    const Tensor normed = norm_1.Forward(input);
    hidden = attn.Forward(normed, context);
    hidden = ApplyDropout(hidden, dropout);
    hidden = Add(hidden, input);
    residual = hidden;
    hidden = norm_2.Forward(hidden);
  }
  hidden = ffn.Forward(hidden, &context.output->router_logits);
  hidden = ApplyDropout(hidden, dropout);
  return Add(residual, hidden);
}

}  // namespace foretell
