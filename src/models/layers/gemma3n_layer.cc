#include "models/layers/gemma3n_layer.h"

#include <cmath>
#include <limits>
#include <numbers>
#include <tuple>

#include "graph/ops/activations.h"
#include "graph/ops/creation.h"
#include "graph/ops/deviation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/in_place.h"
#include "graph/ops/indexing.h"
#include "graph/ops/reduction.h"
#include "graph/ops/views.h"
#include "graph/view_write.h"
#include "models/layers/attention.h"
#include "models/layers/functional.h"

namespace foretell {
namespace {

Gemma4Norm NormOf(const Module& at, std::string_view name, int64_t width,
                  double epsilon, bool has_weight = true) {
  return Gemma4Norm(at.Child(name, RegionKind::kNorm), width, epsilon,
                    has_weight);
}

Linear LinearOf(const Module& at, std::string_view name, int64_t in,
                int64_t out, bool bias = false) {
  return Linear(at.Child(name, RegionKind::kLinear), in, out, bias);
}

void LookWhetherAll(const Tensor& valid) { LocalScalar(IsAllTrue(valid)); }

// torch.distributions.Normal(0, 1), whose arguments are checked where Python
// runs. It lives as long as the function that makes it.
struct Normal {
  explicit Normal(Builder& builder)
      : mean(LiftFresh(builder, {}, DType::kFloat32)),
        deviation(LiftFresh(builder, {}, DType::kFloat32)) {
    Tensor valid = Eq(mean, mean);
    LookWhetherAll(valid);
    valid = GtScalar(deviation, 0);
    LookWhetherAll(valid);
  }

  // icdf
  Tensor Quantile(const Tensor& quantile) const {
    const auto spread = [&] {
      Tensor out = Erfinv(SubScalar(MulScalar(quantile, 2), 1));
      out = Mul(deviation, std::move(out));
      return MulScalar(std::move(out), std::numbers::sqrt2);
    };
    return Add(mean, spread());
  }

  Tensor mean;
  Tensor deviation;
};

// What lies below the quantile of a normal distribution becomes zero.
Tensor CutBelowQuantile(const Tensor& gate) {
  const Tensor quantile =
      Transfer(LiftFresh(gate.builder(), {}, DType::kFloat32));
  const Normal normal(gate.builder());
  Tensor factor = normal.Quantile(quantile);
  factor = To(factor, gate.dtype());
  const Tensor mean = MeanLast(gate);
  const Tensor deviation = StdLast(gate);
  const Tensor cutoff = Add(mean, Mul(deviation, factor));
  return Relu(Sub(gate, cutoff));
}

}  // namespace

ValueId NumberBuffer(const Module& at, std::string_view name) {
  at.Buffer(name, {}, at.builder().dtype(), false);
  return at.builder().graph().buffers.back().value;
}

Gemma3nAttention::KeysAndValues::KeysAndValues(const Module& at,
                                               const Gemma3nLayerConfig& config)
    : k_proj(LinearOf(at, "k_proj", config.hidden,
                      config.kv_heads * config.head_dim, config.bias)),
      v_proj(LinearOf(at, "v_proj", config.hidden,
                      config.kv_heads * config.head_dim, config.bias)),
      k_norm(NormOf(at, "k_norm", config.head_dim, config.norm_epsilon)),
      v_norm(
          NormOf(at, "v_norm", config.head_dim, config.norm_epsilon, false)) {}

Gemma3nAttention::Gemma3nAttention(const Module& at,
                                   const Gemma3nLayerConfig& config,
                                   const Gemma3nLayer& shape)
    : module(at),
      layer(shape),
      head_dim(config.head_dim),
      window(shape.slides ? config.window : 0),
      dropout(config.dropout),
      q_proj(LinearOf(at, "q_proj", config.hidden,
                      config.heads * config.head_dim, config.bias)),
      q_norm(NormOf(at, "q_norm", config.head_dim, config.norm_epsilon)),
      own([&]() -> std::optional<KeysAndValues> {
        if (shape.reuses) return std::nullopt;
        return KeysAndValues(at, config);
      }()),
      o_proj(LinearOf(at, "o_proj", config.heads * config.head_dim,
                      config.hidden, config.bias)) {}

Tensor Gemma3nAttention::Forward(const Tensor& hidden,
                                 const Gemma3nCall& call) const {
  const Scope scope = module.Enter();
  const int64_t batch = hidden.size(0);
  const int64_t length = hidden.size(1);
  const Shape heads = {batch, length, -1, head_dim};
  Tensor q = View(q_proj.Forward(hidden), heads);
  q = q_norm.Forward(q);
  q = Turned(q, call.rotary);
  q = Transpose(std::move(q), 1, 2);
  Tensor k;
  Tensor v;
  if (own) {
    k = View(own->k_proj.Forward(hidden), heads);
    k = own->k_norm.Forward(k);
    k = Turned(k, call.rotary);
    k = Transpose(std::move(k), 1, 2);
    v = View(own->v_proj.Forward(hidden), heads);
    v = own->v_norm.Forward(v);
    v = Transpose(std::move(v), 1, 2);
    if (call.cached != nullptr) {
      std::tie(k, v) = FillCache(*call.cached, k, v, window);
    }
  } else {
    k = call.shared->first;
    v = call.shared->second;
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

Gemma3nMlp::Gemma3nMlp(const Module& at, const Gemma3nLayerConfig& config,
                       const Gemma3nLayer& layer)
    : module(at),
      is_sparse(layer.is_sparse),
      gate_proj(LinearOf(at, "gate_proj", config.hidden, layer.intermediate)),
      up_proj(LinearOf(at, "up_proj", config.hidden, layer.intermediate)),
      down_proj(LinearOf(at, "down_proj", layer.intermediate, config.hidden)),
      act_fn(at.Child("act_fn"), config.activation) {}

Tensor Gemma3nMlp::Forward(const Tensor& hidden) const {
  const Scope scope = module.Enter();
  Tensor gate = gate_proj.Forward(hidden);
  if (is_sparse) gate = CutBelowQuantile(gate);
  const Tensor activated = act_fn.Forward(gate);
  const Tensor up = up_proj.Forward(hidden);
  return down_proj.Forward(Mul(activated, up));
}

Gemma3nAltUp::Gemma3nAltUp(const Module& at, const Gemma3nLayerConfig& config)
    : count(config.streams),
      active(config.active),
      clip(config.coefficient_clip),
      correct_output_scale(
          at.Parameter("correct_output_scale", {config.hidden})),
      correction_coefs(LinearOf(at, "correction_coefs", count, count)),
      prediction_coefs(LinearOf(at, "prediction_coefs", count, count * count)),
      modality_router(LinearOf(at, "modality_router", config.hidden, count)),
      router_norm(
          NormOf(at, "router_norm", config.hidden, config.norm_epsilon)),
      router_input_scale(NumberBuffer(at, "router_input_scale")) {}

Tensor Gemma3nAltUp::Modalities(const Tensor& x) const {
  const auto scaled = [&] {
    const Tensor normed = router_norm.Forward(x);
    return Mul(normed, x.builder().Read(router_input_scale));
  };
  const Tensor inputs = scaled();
  const Tensor routed = modality_router.Forward(inputs);
  return To(Tanh(To(routed, DType::kFloat32)), x.dtype());
}

Tensor Gemma3nAltUp::Predict(const Tensor& streams) const {
  Builder& builder = streams.builder();
  const auto route = [&] { return Modalities(Select(streams, 0, active)); };
  const Tensor modalities = route();
  if (builder.execution().training && clip) {
    ClampInto(Detach(builder.Read(prediction_coefs.weight)), -*clip, *clip);
  }
  const auto coefficients = [&] {
    const Tensor all = prediction_coefs.Forward(modalities);
    return Permute(Reshape(all, {all.size(0), all.size(1), count, count}),
                   {0, 1, 3, 2});
  };
  const Tensor all = coefficients();
  const auto predict = [&] {
    return Matmul(Permute(streams, {1, 2, 3, 0}), all);
  };
  Tensor predictions;
  {
    Tensor product = predict();
    Tensor view = Permute(product, {3, 0, 1, 2});
    predictions =
        WriteThrough(std::move(product), std::move(view), [&](Tensor target) {
          return AddInto(std::move(target), streams);
        }).view;
  }
  return Contiguous(predictions);
}

Tensor Gemma3nAltUp::Correct(const Tensor& predictions,
                             const Tensor& activated) const {
  Builder& builder = predictions.builder();
  const Tensor modalities = Modalities(activated);
  const auto difference = [&] {
    return Sub(activated, Select(predictions, 0, active));
  };
  Tensor innovation = difference();
  innovation = Repeat(innovation, {count, 1, 1, 1});
  Tensor weight;
  Tensor all;
  if (builder.execution().training && clip) {
    weight = Clamp(builder.Read(correction_coefs.weight), -*clip, *clip);
    all = AddScalar(ApplyLinear(modalities, weight, {}), 1);
  } else {
    all = AddScalar(correction_coefs.Forward(modalities), 1);
  }
  all = Unsqueeze(Permute(all, {2, 0, 1}), -1);
  Tensor corrected = Mul(innovation, all);
  corrected = AddInto(corrected, predictions);
  return Contiguous(corrected);
}

Tensor Gemma3nAltUp::Scale(const Tensor& corrected) const {
  return Mul(corrected, corrected.builder().Read(correct_output_scale));
}

Gemma3nLaurel::Gemma3nLaurel(const Module& at, const Gemma3nLayerConfig& config)
    : module(at),
      linear_left(
          LinearOf(at, "linear_left", config.hidden, config.laurel_rank)),
      linear_right(
          LinearOf(at, "linear_right", config.laurel_rank, config.hidden)),
      post_laurel_norm(
          NormOf(at, "post_laurel_norm", config.hidden, config.norm_epsilon)) {}

Tensor Gemma3nLaurel::Forward(const Tensor& hidden) const {
  const Scope scope = module.Enter();
  Tensor low = linear_left.Forward(hidden);
  low = linear_right.Forward(low);
  const Tensor normed = post_laurel_norm.Forward(low);
  return Add(hidden, normed);
}

Gemma3nBlock::Gemma3nBlock(const Module& at, const Gemma3nLayerConfig& config,
                           const Gemma3nLayer& layer)
    : module(at),
      active(config.active),
      scales_corrected(config.scales_corrected),
      self_attn(at.Child("self_attn", RegionKind::kAttention), config, layer),
      mlp(at.Child("mlp", RegionKind::kMlp), config, layer),
      input_layernorm(
          NormOf(at, "input_layernorm", config.hidden, config.norm_epsilon)),
      post_attention_layernorm(NormOf(at, "post_attention_layernorm",
                                      config.hidden, config.norm_epsilon)),
      pre_feedforward_layernorm(NormOf(at, "pre_feedforward_layernorm",
                                       config.hidden, config.norm_epsilon)),
      post_feedforward_layernorm(NormOf(at, "post_feedforward_layernorm",
                                        config.hidden, config.norm_epsilon)),
      act_fn(at.Child("act_fn"), config.activation),
      altup(at.Child("altup"), config),
      laurel(at.Child("laurel"), config),
      per_layer_input_gate(LinearOf(at, "per_layer_input_gate", config.hidden,
                                    config.layer_width)),
      per_layer_projection(LinearOf(at, "per_layer_projection",
                                    config.layer_width, config.hidden)),
      post_per_layer_input_norm(NormOf(at, "post_per_layer_input_norm",
                                       config.hidden, config.norm_epsilon)) {}

Tensor Gemma3nBlock::Forward(const Tensor& streams,
                             const Gemma3nCall& call) const {
  const CheckpointScope checkpoint(
      module.builder(),
      {streams, call.rotary.first, call.rotary.second, call.layer_input},
      {call.mask, call.position_ids});
  const Scope scope = module.Enter();
  const Tensor predictions = altup.Predict(streams);
  const Tensor prediction = Select(predictions, 0, active);
  const Tensor normed = input_layernorm.Forward(prediction);
  const Tensor low = laurel.Forward(normed);
  Tensor attended = self_attn.Forward(normed, call);
  attended = post_attention_layernorm.Forward(attended);
  const Tensor gated = Add(prediction, attended);
  const Tensor joined = DivScalar(Add(gated, low), std::numbers::sqrt2);
  const Tensor before_mlp = pre_feedforward_layernorm.Forward(joined);
  const Tensor from_mlp = mlp.Forward(before_mlp);
  const Tensor after_mlp = post_feedforward_layernorm.Forward(from_mlp);
  const Tensor activated = Add(joined, after_mlp);
  Tensor corrected = altup.Correct(predictions, activated);
  const auto copy = [&] {
    return CloneContiguous(Select(corrected, 0, active));
  };
  Tensor first = copy();
  if (scales_corrected) first = altup.Scale(first);
  first = per_layer_input_gate.Forward(first);
  first = act_fn.Forward(first);
  first = Mul(first, call.layer_input);
  first = per_layer_projection.Forward(first);
  first = post_per_layer_input_norm.Forward(first);
  // streams[1:] += first: what is added in place is also assigned.
  constexpr int64_t kToTheEnd = std::numeric_limits<int64_t>::max();
  const auto others = [&](const Tensor& all) {
    return Slice(all, 0, 1, kToTheEnd);
  };
  ViewWrite added = WriteThrough(
      corrected, others(corrected),
      [&](Tensor target) { return AddInto(std::move(target), first); });
  corrected = added.base;
  const Tensor value = added.view;
  added = {};
  corrected = WriteThrough(corrected, others(corrected), [&](Tensor target) {
                return CopyInto(std::move(target), value);
              }).base;
  return corrected;
}

}  // namespace foretell
