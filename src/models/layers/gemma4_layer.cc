#include "models/layers/gemma4_layer.h"

#include <cmath>
#include <limits>
#include <tuple>

#include "graph/ops/elementwise.h"
#include "graph/ops/in_place.h"
#include "graph/ops/indexing.h"
#include "graph/ops/reduction.h"
#include "graph/ops/sorting.h"
#include "graph/ops/views.h"
#include "models/layers/attention.h"
#include "models/layers/functional.h"

namespace foretell {
namespace {

Tensor RotateHalf(const Tensor& x) {
  const int64_t half = x.size(-1) / 2;
  const Tensor first = Slice(x, 3, 0, half);
  const Tensor second = Slice(x, 3, half, std::numeric_limits<int64_t>::max());
  return Cat2(Neg(second), first, -1);
}

ValueId ScalarBuffer(const Module& at, std::string_view name) {
  at.Buffer(name, {1}, at.builder().dtype(), true);
  return at.builder().graph().buffers.back().value;
}

}  // namespace

Tensor Turned(const Tensor& x, const std::pair<Tensor, Tensor>& rotary) {
  const Tensor cosines = Unsqueeze(rotary.first, 2);
  const Tensor sines = Unsqueeze(rotary.second, 2);
  const Tensor straight = Mul(x, cosines);
  const auto across = [&] { return Mul(RotateHalf(x), sines); };
  return Add(straight, across());
}

Gemma4Norm::Gemma4Norm(const Module& at, int64_t width, double eps,
                       bool has_weight)
    : module(at), epsilon(eps) {
  if (has_weight) weight = at.Parameter("weight", {width});
}

Tensor Gemma4Norm::Forward(const Tensor& input) const {
  const Scope scope = module.Enter();
  const auto normed = [&](const Tensor& wide) {
    const Tensor mean_squared =
        AddScalar(MeanLast(PowScalar(wide, 2)), epsilon);
    return Mul(wide, PowScalar(mean_squared, -0.5));
  };
  Tensor out = normed(To(input, DType::kFloat32));
  if (weight) {
    out = Mul(out, To(module.builder().Read(*weight), DType::kFloat32));
  }
  return To(out, input.dtype());
}

Gemma4Attention::Gemma4Attention(const Module& at,
                                 const Gemma4LayerConfig& config,
                                 const Gemma4Layer& shape)
    : module(at),
      layer(shape),
      window(shape.slides ? config.window : 0),
      dropout(config.dropout),
      q_proj(at.Child("q_proj", RegionKind::kLinear), config.hidden,
             config.heads * layer.head_dim, config.bias),
      q_norm(at.Child("q_norm", RegionKind::kNorm), layer.head_dim,
             config.norm_epsilon),
      k_norm([&]() -> std::optional<Gemma4Norm> {
        if (layer.reuses) return std::nullopt;
        return Gemma4Norm(at.Child("k_norm", RegionKind::kNorm), layer.head_dim,
                          config.norm_epsilon);
      }()),
      v_norm([&]() -> std::optional<Gemma4Norm> {
        if (layer.reuses) return std::nullopt;
        return Gemma4Norm(at.Child("v_norm", RegionKind::kNorm), layer.head_dim,
                          config.norm_epsilon, /*has_weight=*/false);
      }()),
      k_proj([&]() -> std::optional<Linear> {
        if (layer.reuses) return std::nullopt;
        return Linear(at.Child("k_proj", RegionKind::kLinear), config.hidden,
                      layer.kv_heads * layer.head_dim, config.bias);
      }()),
      v_proj([&]() -> std::optional<Linear> {
        if (layer.reuses || !layer.has_values) return std::nullopt;
        return Linear(at.Child("v_proj", RegionKind::kLinear), config.hidden,
                      layer.kv_heads * layer.head_dim, config.bias);
      }()),
      o_proj(at.Child("o_proj", RegionKind::kLinear),
             config.heads * layer.head_dim, config.hidden, config.bias) {}

Tensor Gemma4Attention::Forward(const Tensor& hidden,
                                const Gemma4Call& call) const {
  const Scope scope = module.Enter();
  const int64_t batch = hidden.size(0);
  const int64_t length = hidden.size(1);
  const Shape heads = {batch, length, -1, layer.head_dim};
  Tensor q = View(q_proj.Forward(hidden), heads);
  q = q_norm.Forward(q);
  q = Turned(q, call.rotary);
  q = Transpose(std::move(q), 1, 2);
  Tensor k;
  Tensor v;
  if (layer.reuses) {
    k = call.shared->first;
    v = call.shared->second;
  } else {
    k = View(k_proj->Forward(hidden), heads);
    v = v_proj ? View(v_proj->Forward(hidden), heads) : k;
    k = k_norm->Forward(k);
    k = Turned(k, call.rotary);
    k = Transpose(std::move(k), 1, 2);
    v = v_norm->Forward(v);
    v = Transpose(std::move(v), 1, 2);
    if (call.cached != nullptr) {
      std::tie(k, v) = FillCache(*call.cached, k, v, window);
    }
  }
  if (layer.stores) *call.shared = {k, v};
  AttentionCall attend;
  attend.mask = call.mask;
  attend.dropout = dropout;
  attend.scale = 1;
  attend.attention = call.attention;
  Tensor out = Attend(q, k, v, attend);
  out = Contiguous(Reshape(out, {batch, length, -1}));
  return o_proj.Forward(out);
}

Gemma4Mlp::Gemma4Mlp(const Module& at, int64_t hidden, int64_t intermediate,
                     Activation activation)
    : module(at),
      gate_proj(at.Child("gate_proj", RegionKind::kLinear), hidden,
                intermediate, false),
      up_proj(at.Child("up_proj", RegionKind::kLinear), hidden, intermediate,
              false),
      down_proj(at.Child("down_proj", RegionKind::kLinear), intermediate,
                hidden, false),
      act_fn(at.Child("act_fn"), activation) {}

Tensor Gemma4Mlp::Forward(const Tensor& x) const {
  const Scope scope = module.Enter();
  const auto widened = [&] {
    const Tensor gate = act_fn.Forward(gate_proj.Forward(x));
    return Mul(gate, up_proj.Forward(x));
  };
  return down_proj.Forward(widened());
}

Gemma4Router::Gemma4Router(const Module& at, const Gemma4LayerConfig& config)
    : module(at),
      per_token(config.experts.per_token),
      scale(at.Parameter("scale", {config.hidden})),
      per_expert_scale(
          at.Parameter("per_expert_scale", {config.experts.experts})),
      proj(at.Child("proj", RegionKind::kLinear), config.hidden,
           config.experts.experts, false),
      norm(at.Child("norm", RegionKind::kNorm), config.hidden,
           config.norm_epsilon, /*has_weight=*/false) {}

Routing Gemma4Router::Forward(Tensor hidden) const {
  const Scope scope = module.Enter();
  Builder& builder = module.builder();
  hidden = norm.Forward(hidden);
  const auto scaled = [&] {
    return MulScalar(Mul(hidden, builder.Read(scale)),
                     std::pow(static_cast<double>(hidden.size(-1)), -0.5));
  };
  hidden = scaled();
  const Tensor scores = proj.Forward(hidden);
  const Tensor probabilities = SoftmaxInFloat(scores, -1);
  auto [weights, chosen] = TopK(probabilities, per_token);
  weights = DivInto(weights, SumOver(weights, -1, true));
  const Tensor places[] = {chosen};
  weights = Mul(weights, Index(builder.Read(per_expert_scale), places));
  builder.ReturnBeside(probabilities, 1);
  return {probabilities, weights, chosen};
}

Gemma4Moe::Gemma4Moe(const Module& layer, const Gemma4LayerConfig& config)
    : router(layer.Child("router", RegionKind::kRouter), config),
      experts(layer.Child("experts", RegionKind::kExperts), config.experts),
      post_feedforward_layernorm_1(
          layer.Child("post_feedforward_layernorm_1", RegionKind::kNorm),
          config.hidden, config.norm_epsilon),
      post_feedforward_layernorm_2(
          layer.Child("post_feedforward_layernorm_2", RegionKind::kNorm),
          config.hidden, config.norm_epsilon),
      pre_feedforward_layernorm_2(
          layer.Child("pre_feedforward_layernorm_2", RegionKind::kNorm),
          config.hidden, config.norm_epsilon) {}

Gemma4LayerInput::Gemma4LayerInput(const Module& layer,
                                   const Gemma4LayerConfig& config)
    : per_layer_input_gate(
          layer.Child("per_layer_input_gate", RegionKind::kLinear),
          config.hidden, config.layer_width, false),
      per_layer_projection(
          layer.Child("per_layer_projection", RegionKind::kLinear),
          config.layer_width, config.hidden, false),
      post_per_layer_input_norm(
          layer.Child("post_per_layer_input_norm", RegionKind::kNorm),
          config.hidden, config.norm_epsilon),
      act_fn(layer.Child("act_fn"), config.activation) {}

Gemma4Block::Gemma4Block(const Module& at, const Gemma4LayerConfig& config,
                         const Gemma4Layer& layer)
    : module(at),
      layer_scalar(ScalarBuffer(at, "layer_scalar")),
      self_attn(at.Child("self_attn", RegionKind::kAttention), config, layer),
      mlp(at.Child("mlp", RegionKind::kMlp), config.hidden, layer.intermediate,
          config.activation),
      input_layernorm(at.Child("input_layernorm", RegionKind::kNorm),
                      config.hidden, config.norm_epsilon),
      post_attention_layernorm(
          at.Child("post_attention_layernorm", RegionKind::kNorm),
          config.hidden, config.norm_epsilon),
      pre_feedforward_layernorm(
          at.Child("pre_feedforward_layernorm", RegionKind::kNorm),
          config.hidden, config.norm_epsilon),
      post_feedforward_layernorm(
          at.Child("post_feedforward_layernorm", RegionKind::kNorm),
          config.hidden, config.norm_epsilon) {
  if (config.layer_width > 0) layer_input.emplace(at, config);
  if (config.has_experts) moe.emplace(at, config);
}

Tensor Gemma4Block::BesideExperts(const Tensor& from_mlp,
                                  const Tensor& residual,
                                  std::string_view experts,
                                  std::vector<Tensor>& names) const {
  const Tensor first = moe->post_feedforward_layernorm_1.Forward(from_mlp);
  const Tensor rows = Reshape(residual, {-1, residual.size(-1)});
  const Routing routing = moe->router.Forward(rows);
  Tensor second = moe->pre_feedforward_layernorm_2.Forward(rows);
  second = moe->experts.Forward(second, routing, experts);
  second = Reshape(second, residual.shape());
  second = moe->post_feedforward_layernorm_2.Forward(second);
  names = {first, rows, routing.weights, routing.experts, second};
  return Add(first, second);
}

Tensor Gemma4Block::Forward(const Tensor& input, const Gemma4Call& call) const {
  const CheckpointScope checkpoint(
      module.builder(), {input, call.layer_input},
      {call.mask, call.rotary.first, call.rotary.second, call.position_ids});
  const Scope scope = module.Enter();
  Tensor residual = input;
  Tensor hidden = input_layernorm.Forward(input);
  hidden = self_attn.Forward(hidden, call);
  hidden = post_attention_layernorm.Forward(hidden);
  hidden = Add(residual, hidden);
  residual = hidden;
  hidden = pre_feedforward_layernorm.Forward(hidden);
  hidden = mlp.Forward(hidden);
  std::vector<Tensor> names;  // that live until the layer returns
  if (moe) hidden = BesideExperts(hidden, residual, call.experts, names);
  hidden = post_feedforward_layernorm.Forward(hidden);
  hidden = Add(residual, hidden);
  if (layer_input) {
    residual = hidden;
    hidden = layer_input->per_layer_input_gate.Forward(hidden);
    hidden = layer_input->act_fn.Forward(hidden);
    hidden = Mul(hidden, call.layer_input);
    hidden = layer_input->per_layer_projection.Forward(hidden);
    hidden = layer_input->post_per_layer_input_norm.Forward(hidden);
    hidden = Add(residual, hidden);
  }
  return MulInto(hidden, module.builder().Read(layer_scalar));
}

}  // namespace foretell
