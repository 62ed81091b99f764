#include "models/layers/llama4_layer.h"

#include <cmath>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "graph/ops/activations.h"
#include "graph/ops/complex.h"
#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/in_place.h"
#include "graph/ops/indexing.h"
#include "graph/ops/matmul.h"
#include "graph/ops/powers.h"
#include "graph/ops/reduction.h"
#include "graph/ops/sorting.h"
#include "graph/ops/views.h"
#include "models/layers/dropout.h"
#include "models/layers/functional.h"
#include "models/layers/norm.h"

namespace foretell {
namespace {

Tensor Turned(const Tensor& pairs, const Tensor& turns) {
  const auto product = [&] {
    return ViewAsReal(Mul(pairs, Unsqueeze(turns, 2)));
  };
  const Tensor out = product();
  Shape shape = out.shape();
  return Reshape(out, {shape[0], shape[1], shape[2], shape[3] * shape[4]});
}

std::pair<Tensor, Tensor> Turn(const Tensor& q, const Tensor& k,
                               const Tensor& turns) {
  const auto pair_up = [](const Tensor& x) {
    Shape shape = x.shape();
    shape.Set(-1, -1);
    shape.Append(2);
    return ViewAsComplex(Reshape(To(x, DType::kFloat32), shape));
  };
  const Tensor q_pairs = pair_up(q);
  const Tensor k_pairs = pair_up(k);
  const Tensor q_out = Turned(q_pairs, turns);
  const Tensor k_out = Turned(k_pairs, turns);
  const Tensor q_cast = To(q_out, q.dtype());
  return {q_cast, To(k_out, k.dtype())};
}

// repeat_kv: [b, h, s, d] with each head so many times in a row.
Tensor Repeated(const Tensor& x, int64_t times) {
  if (times == 1) return x;
  const Shape shape = x.shape();
  const Tensor wide =
      Expand(Unsqueeze(x, 2), {shape[0], shape[1], times, shape[2], shape[3]});
  return Reshape(wide, {shape[0], shape[1] * times, shape[2], shape[3]});
}

// x.float() over the root of its mean square, in the dtype of x.
Tensor Normed(const Tensor& x, double epsilon) {
  return To(OverRootMeanSquare(To(x, DType::kFloat32), epsilon), x.dtype());
}

}  // namespace

Llama4Norm::Llama4Norm(const Module& at, int64_t width, double eps)
    : module(at), weight(at.Parameter("weight", {width})), epsilon(eps) {}

Tensor Llama4Norm::Forward(const Tensor& x) const {
  const Scope scope = module.Enter();
  const Tensor output = Normed(x, epsilon);
  return Mul(output, module.builder().Read(weight));
}

Llama4Mlp::Llama4Mlp(const Module& at, int64_t hidden, int64_t intermediate,
                     Activation activation)
    : module(at),
      gate_proj(at.Child("gate_proj", RegionKind::kLinear), hidden,
                intermediate, false),
      up_proj(at.Child("up_proj", RegionKind::kLinear), hidden, intermediate,
              false),
      down_proj(at.Child("down_proj", RegionKind::kLinear), intermediate,
                hidden, false),
      activation_fn(at.Child("activation_fn"), activation) {}

Tensor Llama4Mlp::Forward(const Tensor& x) const {
  const Scope scope = module.Enter();
  const auto product = [&] {
    const Tensor gate = activation_fn.Forward(gate_proj.Forward(x));
    return Mul(gate, up_proj.Forward(x));
  };
  const Tensor widened = product();
  return down_proj.Forward(widened);
}

Llama4Attention::Llama4Attention(const Module& at,
                                 const Llama4LayerConfig& settings)
    : module(at),
      config(settings),
      q_proj(at.Child("q_proj", RegionKind::kLinear), config.attention.hidden,
             config.attention.heads * config.attention.head_dim,
             config.attention.qkv_bias),
      k_proj(at.Child("k_proj", RegionKind::kLinear), config.attention.hidden,
             config.attention.kv_heads * config.attention.head_dim,
             config.attention.qkv_bias),
      v_proj(at.Child("v_proj", RegionKind::kLinear), config.attention.hidden,
             config.attention.kv_heads * config.attention.head_dim,
             config.attention.qkv_bias),
      o_proj(at.Child("o_proj", RegionKind::kLinear),
             config.attention.heads * config.attention.head_dim,
             config.attention.hidden, config.attention.qkv_bias) {
  if (config.norms && config.turns) qk_norm = at.Child("qk_norm");
}

Tensor Llama4Attention::ScaledByPlace(const Tensor& q,
                                      std::vector<Tensor>& names) const {
  Builder& builder = module.builder();
  const int64_t length = q.size(1);
  const Tensor positions = AddScalar(Arange(builder, length), 0);
  const auto divided = [&] {
    const Tensor from_one = AddScalar(To(positions, DType::kFloat32), 1.0);
    return DivScalar(from_one, config.floor);
  };
  const auto grown = [&] { return Floor(divided()); };
  const auto scaled = [&] {
    return AddScalar(MulScalar(Log1p(grown()), config.scale), 1.0);
  };
  Tensor scales = scaled();
  scales = Expand(View(std::move(scales), {1, length, 1, 1}),
                  {q.size(0), length, 1, 1});
  names = {positions, scales};
  return To(Mul(q, scales), q.dtype());
}

Tensor Llama4Attention::Attend(const Tensor& q, const Tensor& k,
                               const Tensor& v, const Tensor& mask,
                               std::string_view attention) const {
  const double scale =
      1 / std::sqrt(static_cast<double>(config.attention.head_dim));
  if (attention != "eager") {
    AttentionCall call;
    call.mask = mask;
    call.dropout = config.attention.dropout;
    call.scale = scale;
    call.attention = attention;
    return foretell::Attend(q, k, v, call);
  }
  // The scores stay in their own dtype.
  const int64_t groups = k.size(1) > 0 ? q.size(1) / k.size(1) : 1;
  const Tensor keys = Repeated(k, groups);
  const Tensor values = Repeated(v, groups);
  Tensor weights = MulScalar(Matmul(q, Transpose(keys, 2, 3)), scale);
  if (!mask.empty()) weights = Add(weights, mask);
  weights = SoftmaxAsIs(weights, -1);
  weights = ApplyDropout(weights, config.attention.dropout);
  q.builder().ReturnBeside(weights, 1);
  Tensor out = Matmul(weights, values);
  return Contiguous(Transpose(out, 1, 2));
}

Tensor Llama4Attention::Forward(const Tensor& hidden, const Tensor& turns,
                                const Tensor& mask,
                                std::string_view attention) const {
  const Scope scope = module.Enter();
  const int64_t batch = hidden.size(0);
  const int64_t length = hidden.size(1);
  const Shape heads = {batch, length, -1, config.attention.head_dim};
  Tensor q = View(q_proj.Forward(hidden), heads);
  Tensor k = View(k_proj.Forward(hidden), heads);
  const Tensor v = Transpose(View(v_proj.Forward(hidden), heads), 1, 2);
  if (config.turns) std::tie(q, k) = Turn(q, k, turns);
  const auto norm = [&](const Tensor& x) {
    const Scope inner = qk_norm->Enter();
    return Normed(x, config.norm_epsilon);
  };
  if (qk_norm) {
    q = norm(q);
    k = norm(k);
  }
  std::vector<Tensor> names;  // that live until the attention returns
  if (config.scales && !config.turns) q = ScaledByPlace(q, names);
  q = Transpose(std::move(q), 1, 2);
  k = Transpose(std::move(k), 1, 2);
  Tensor out = Attend(q, k, v, mask, attention);
  out = Contiguous(Reshape(out, {batch, length, -1}));
  return o_proj.Forward(out);
}

Llama4Moe::Llama4Moe(const Module& at, const ExpertsConfig& settings)
    : module(at),
      config(settings),
      experts(at.Child("experts", RegionKind::kExperts)),
      gate_up_proj(experts.Parameter(
          "gate_up_proj",
          {config.experts, config.hidden, 2 * config.intermediate})),
      down_proj(experts.Parameter(
          "down_proj", {config.experts, config.intermediate, config.hidden})),
      act_fn(experts.Child("act_fn"), config.activation),
      router(at.Child("router", RegionKind::kRouter), config.hidden,
             config.experts, false),
      shared_expert(at.Child("shared_expert", RegionKind::kMlp), config.hidden,
                    config.intermediate, config.activation) {
  for (const ParameterId weight : {gate_up_proj, down_proj}) {
    at.builder().MarkExperts(weight, config.experts, config.per_token);
  }
}

std::pair<Tensor, Tensor> Llama4Moe::Route(const Tensor& rows) const {
  const Tensor logits = router.Forward(rows);
  const Scope scope = router.module.Enter();
  const auto [values, indices] = TopK(logits, config.per_token);
  Tensor scores = FullLike(logits, -std::numeric_limits<double>::infinity(),
                           logits.dtype());
  scores = ScatterInto(std::move(scores), 1, indices, values);
  const DType dtype = scores.dtype();
  scores = To(Sigmoid(To(scores, DType::kFloat32)), dtype);
  return {scores, logits};
}

Tensor Llama4Moe::RunExperts(const Tensor& routed) const {
  const Scope scope = experts.Enter();
  Builder& builder = module.builder();
  const Tensor rows = View(routed, {config.experts, -1, config.hidden});
  const Tensor gate_up = Bmm(rows, builder.Read(gate_up_proj));
  const std::vector<Tensor> halves = Split(gate_up, config.intermediate, -1);
  const auto narrowed = [&] {
    return Bmm(Mul(halves[1], act_fn.Forward(halves[0])),
               builder.Read(down_proj));
  };
  Tensor out = halves.size() == 2 ? narrowed() : gate_up;
  return View(std::move(out), {-1, config.hidden});
}

Tensor Llama4Moe::Forward(const Tensor& input) const {
  const Scope scope = module.Enter();
  const Tensor hidden = Reshape(input, {-1, config.hidden});
  const auto [scores, logits] = Route(hidden);
  Tensor routed = Repeat(hidden, {config.experts, 1});
  const auto weigh = [&] {
    return Mul(routed, Reshape(Transpose(scores, 0, 1), {-1, 1}));
  };
  routed = weigh();
  const Tensor results = RunExperts(routed);
  Tensor out = shared_expert.Forward(hidden);
  const auto sum = [&] {
    return SumOver(Reshape(results, {config.experts, -1, config.hidden}), 0,
                   false);
  };
  out = AddInto(std::move(out), sum());
  module.builder().ReturnBeside(logits, 1);
  return out;
}

Llama4Layer::Llama4Layer(const Module& at, const Llama4LayerConfig& config)
    : module(at),
      chunked(config.chunked),
      self_attn(at.Child("self_attn", RegionKind::kAttention), config),
      experts([&]() -> std::optional<Llama4Moe> {
        if (!config.has_experts) return std::nullopt;
        return Llama4Moe(at.Child("feed_forward", RegionKind::kMlp),
                         config.experts);
      }()),
      dense([&]() -> std::optional<Llama4Mlp> {
        if (config.has_experts) return std::nullopt;
        return Llama4Mlp(at.Child("feed_forward", RegionKind::kMlp),
                         config.attention.hidden, config.dense,
                         config.experts.activation);
      }()),
      input_layernorm(at.Child("input_layernorm", RegionKind::kNorm),
                      config.attention.hidden, config.norm_epsilon),
      post_attention_layernorm(
          at.Child("post_attention_layernorm", RegionKind::kNorm),
          config.attention.hidden, config.norm_epsilon) {}

Tensor Llama4Layer::Forward(const Tensor& input, const Tensor& turns,
                            const Tensor& mask, const Tensor& position_ids,
                            std::string_view attention) const {
  const CheckpointScope checkpoint(module.builder(), {input},
                                   {mask, turns, position_ids});
  const Scope scope = module.Enter();
  Tensor residual = input;
  Tensor hidden = input_layernorm.Forward(input);
  const Tensor attended = self_attn.Forward(hidden, turns, mask, attention);
  hidden = Add(residual, attended);
  residual = hidden;
  hidden = post_attention_layernorm.Forward(hidden);
  hidden = experts ? experts->Forward(hidden) : dense->Forward(hidden);
  return Add(residual, View(hidden, residual.shape()));
}

}  // namespace foretell
