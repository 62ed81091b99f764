#include "models/layers/bart_layer.h"

#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "graph/ops/activations.h"
#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/reduction.h"
#include "graph/ops/views.h"
#include "models/layers/dropout.h"
#include "models/layers/functional.h"
#include "models/layers/plain_attention.h"

namespace foretell {
namespace {

// torch.nn.LayerNorm's default.
constexpr double kEpsilon = 1e-5;

LayerNorm Norm(const Module& at, std::string_view name,
               const BartLayerConfig& config) {
  return {at.Child(name, RegionKind::kNorm), config.width, kEpsilon};
}

// float16 alone is looked through for infinities; a sound step has none.
void LookForInfinities(const Tensor& hidden) {
  if (hidden.dtype() != DType::kFloat16) return;
  const auto are_finite = [&] {
    const Tensor size = Abs(hidden);
    const Tensor is_bounded =
        NeScalar(size, std::numeric_limits<double>::infinity());
    const Tensor is_number = Eq(hidden, hidden);
    return Mul(is_number, is_bounded);
  };
  LocalScalar(All(are_finite()));
}

}  // namespace

BartAttention::BartAttention(const Module& at, const BartLayerConfig& settings,
                             bool causal)
    : module(at),
      config(settings),
      is_causal(causal),
      k_proj(at.Child("k_proj", RegionKind::kLinear), config.width,
             config.width, true),
      v_proj(at.Child("v_proj", RegionKind::kLinear), config.width,
             config.width, true),
      q_proj(at.Child("q_proj", RegionKind::kLinear), config.width,
             config.width, true),
      out_proj(at.Child("out_proj", RegionKind::kLinear), config.width,
               config.width, true) {}

Tensor BartAttention::Forward(const Tensor& hidden, const Tensor& states,
                              const Tensor& mask, std::string_view attention,
                              CachedLayer* cached) const {
  const Scope scope = module.Enter();
  const Tensor query = SplitHeads(q_proj.Forward(hidden), config.head_dim);
  Tensor key;
  Tensor value;
  const bool is_cross = states.id() != hidden.id();
  if (is_cross && cached != nullptr && !cached->keys.empty()) {
    key = cached->keys;
    value = cached->values;
  } else {
    key = k_proj.Forward(states);
    value = v_proj.Forward(states);
    key = SplitHeads(key, config.head_dim);
    value = SplitHeads(value, config.head_dim);
    if (cached != nullptr) {
      std::tie(key, value) = FillCache(*cached, key, value, 0);
    }
  }
  PlainAttentionCall call;
  call.mask = mask;
  call.dropout = config.attention_dropout;
  call.scale = 1 / std::sqrt(static_cast<double>(config.head_dim));
  call.causal = is_causal;
  call.attention = attention;
  Tensor out = Contiguous(AttendPlainly(query, key, value, call));
  out = Reshape(out, {out.size(0), out.size(1), -1});
  return out_proj.Forward(out);
}

BartFeedForward::BartFeedForward(const Module& layer,
                                 const BartLayerConfig& settings,
                                 ActivationModule activation)
    : config(settings),
      activation_fn(std::move(activation)),
      fc1(layer.Child("fc1", RegionKind::kMlp), config.width, config.inner,
          true),
      fc2(layer.Child("fc2", RegionKind::kMlp), config.inner, config.width,
          true),
      final_layer_norm(Norm(layer, "final_layer_norm", config)) {}

Tensor BartFeedForward::Forward(Tensor hidden) const {
  const Tensor residual = hidden;
  if (config.norm_first) hidden = final_layer_norm.Forward(hidden);
  hidden = activation_fn.Forward(fc1.Forward(hidden));
  hidden = ApplyDropout(hidden, config.activation_dropout);
  hidden = fc2.Forward(hidden);
  hidden = ApplyDropout(hidden, config.dropout);
  hidden = Add(residual, hidden);
  return config.norm_first ? hidden : final_layer_norm.Forward(hidden);
}

BartEncoderLayer::BartEncoderLayer(const Module& at,
                                   const BartLayerConfig& settings)
    : module(at),
      config(settings),
      self_attn(at.Child("self_attn", RegionKind::kAttention), config, false),
      self_attn_layer_norm(Norm(at, "self_attn_layer_norm", config)),
      feed_forward(
          at, config,
          ActivationModule(at.Child("activation_fn"), config.activation)) {}

Tensor BartEncoderLayer::Forward(Tensor hidden,
                                 std::string_view attention) const {
  const CheckpointScope checkpoint(module.builder(), {hidden});
  const Scope scope = module.Enter();
  const bool first = config.norm_first;
  Tensor residual = hidden;
  if (first) hidden = self_attn_layer_norm.Forward(hidden);
  hidden = self_attn.Forward(hidden, hidden, Tensor(), attention);
  hidden = ApplyDropout(hidden, config.dropout);
  hidden = Add(residual, hidden);
  if (!first) hidden = self_attn_layer_norm.Forward(hidden);
  residual = hidden;
  hidden = feed_forward.Forward(std::move(hidden));
  if (!config.clamps_half) {
    LookForInfinities(hidden);
  } else if (hidden.dtype() == DType::kFloat16) {
    hidden = Clamp(hidden, -64504, 64504);
  }
  return hidden;
}

BartDecoderLayer::BartDecoderLayer(const Module& at,
                                   const BartLayerConfig& settings)
    : module(at),
      config(settings),
      self_attn(at.Child("self_attn", RegionKind::kAttention), config, true),
      activation_fn(at.Child("activation_fn"), config.activation),
      self_attn_layer_norm(Norm(at, "self_attn_layer_norm", config)),
      encoder_attn(at.Child("encoder_attn", RegionKind::kAttention), config,
                   false),
      encoder_attn_layer_norm(Norm(at, "encoder_attn_layer_norm", config)),
      feed_forward(at, config, activation_fn) {}

Tensor BartDecoderLayer::Forward(Tensor hidden, const Tensor& mask,
                                 const Tensor& encoded,
                                 std::string_view attention,
                                 CachedPair* cached) const {
  const CheckpointScope checkpoint(module.builder(), {hidden, mask, encoded});
  const Scope scope = module.Enter();
  const bool first = config.norm_first;
  Tensor residual = hidden;
  if (first) hidden = self_attn_layer_norm.Forward(hidden);
  hidden = self_attn.Forward(hidden, hidden, mask, attention,
                             cached != nullptr ? &cached->own : nullptr);
  hidden = ApplyDropout(hidden, config.dropout);
  hidden = Add(residual, hidden);
  if (!first) hidden = self_attn_layer_norm.Forward(hidden);
  if (!encoded.empty()) {
    residual = hidden;
    if (first) hidden = encoder_attn_layer_norm.Forward(hidden);
    hidden = encoder_attn.Forward(hidden, encoded, Tensor(), attention,
                                  cached != nullptr ? &cached->cross : nullptr);
    hidden = ApplyDropout(hidden, config.dropout);
    hidden = Add(residual, hidden);
    if (!first) hidden = encoder_attn_layer_norm.Forward(hidden);
  }
  residual = hidden;
  return feed_forward.Forward(std::move(hidden));
}

}  // namespace foretell
