#include "models/layers/falcon_layer.h"

#include <cmath>
#include <tuple>
#include <vector>

#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/in_place.h"
#include "graph/ops/indexing.h"
#include "graph/ops/reduction.h"
#include "graph/ops/views.h"
#include "models/layers/functional.h"
#include "models/layers/rope.h"
#include "models/layers/sdpa_choice.h"

namespace foretell {
namespace {

FalconLinear SpelledOut(const Module& at, std::string_view name, int64_t in,
                        int64_t out, bool bias) {
  return {at.Child(name, RegionKind::kLinear), in, out, bias};
}

int64_t ProjectionWidth(const FalconConfig& config) {
  const WholeHeads& heads = config.heads;
  if (config.is_new) {
    return (2 * config.kv_heads + heads.heads) * heads.head_dim;
  }
  return config.shares_keys ? heads.hidden + 2 * heads.head_dim
                            : 3 * heads.hidden;
}

// x[..., [index], :] with one whole number along `axis`.
Tensor PickOne(const Tensor& x, int axis) {
  const Tensor place = Transfer(LiftFresh(x.builder(), {1}, DType::kInt64));
  return Index(x, std::span(&place, 1), axis);
}

// x /= number
Tensor DivideInto(const Tensor& x, double number) {
  return x.builder().Emit(*FindOperation("aten.div_.Tensor"), {x}, {number});
}

// F.softmax(x, dim=-1, dtype=dtype)
Tensor SoftmaxAs(const Tensor& x, DType dtype) {
  if (x.dtype() == dtype) return SoftmaxAsIs(x, -1);
  if (dtype == DType::kFloat32) return SoftmaxInFloat(x, -1);
  const Tensor cast = To(x, dtype);
  return SoftmaxAsIs(cast, -1);
}

std::optional<LayerNorm> NormIf(const Module& at, std::string_view name,
                                const FalconConfig& config, bool is_there) {
  if (!is_there) return std::nullopt;
  return LayerNorm(at.Child(name, RegionKind::kNorm), config.heads.hidden,
                   config.norm_epsilon);
}

}  // namespace

FalconAttention::FalconAttention(const Module& at, const FalconConfig& settings)
    : module(at),
      config(settings),
      query_key_value(SpelledOut(at, "query_key_value", config.heads.hidden,
                                 ProjectionWidth(config), config.bias)),
      dense(SpelledOut(at, "dense", config.heads.hidden, config.heads.hidden,
                       config.bias)),
      attention_dropout(at.Child("attention_dropout"),
                        config.attention_dropout) {}

FalconAttention::Heads FalconAttention::Part(const Tensor& fused) const {
  const int64_t batch = fused.size(0);
  const int64_t length = fused.size(1);
  const int64_t heads = config.heads.heads;
  const int64_t dim = config.heads.head_dim;
  Heads out;
  if (config.is_new) {
    const int64_t groups = heads / config.kv_heads;
    const Tensor qkv = View(fused, {batch, length, -1, groups + 2, dim});
    out.q = Slice(qkv, 3, 0, -2);
    out.k = PickOne(qkv, 3);
    out.v = PickOne(qkv, 3);
    out.k = Expand(out.k, out.q.shape());
    out.v = Expand(out.v, out.q.shape());
    const Shape flat = {batch, length, -1, dim};
    const Tensor q = Reshape(out.q, flat);
    const Tensor k = Reshape(out.k, flat);
    return {q, k, Reshape(out.v, flat)};
  }
  if (!config.shares_keys) {
    const Tensor qkv = View(fused, {batch, length, heads, 3, dim});
    out.q = Select(qkv, 3, 0);
    out.k = Select(qkv, 3, 1);
    out.v = Select(qkv, 3, 2);
    return out;
  }
  const Tensor qkv = View(fused, {batch, length, heads + 2, dim});
  out.q = Slice(qkv, 2, 0, -2);
  out.k = PickOne(qkv, 2);
  out.v = PickOne(qkv, 2);
  return out;
}

Tensor FalconAttention::Kernel(const Heads& heads, const FalconContext& context,
                               double dropout) const {
  const double scale =
      1 / std::sqrt(static_cast<double>(config.heads.head_dim));
  const bool causal = context.mask.empty() && heads.q.size(2) > 1;
  if (heads.k.size(1) != heads.q.size(1)) {
    SdpaCall call;
    call.dtype =
        module.builder().execution().autocast.value_or(heads.q.dtype());
    call.capability = module.builder().execution().capability;
    call.head_dim = heads.q.size(-1);
    call.value_dim = heads.v.size(-1);
    call.queries = heads.q.size(-2);
    call.keys = heads.k.size(-2);
    call.has_mask = !context.mask.empty();
    call.dropout = dropout;
    call.causal = causal;
    call.keeps = module.builder().ValueOf(heads.q.id()).requires_grad;
    if (ChooseSdpaKernel(call) != SdpaKernelKind::kCudnn) {
      module.builder().Fail(
          "sdpa of one head of keys outside cuDNN's kernel is not modelled");
    }
  }
  return SdpaKernel(heads.q, heads.k, heads.v, context.mask, dropout, causal,
                    scale);
}

Tensor FalconAttention::AttendTurned(const Heads& heads,
                                     const FalconContext& context,
                                     DType dtype) const {
  const int64_t batch = heads.q.size(0);
  const int64_t length = heads.q.size(2);
  Tensor out;
  if (context.attention == "sdpa") {
    out = Kernel(heads, context, 0);
  } else {
    Tensor scores = SpreadMatmul(heads.q, Transpose(heads.k, -1, -2));
    scores = DivideInto(scores,
                        std::sqrt(static_cast<double>(config.heads.head_dim)));
    scores = SoftmaxAs(Add(scores, context.mask), dtype);
    // Its layer returns them too.
    module.builder().ReturnBeside(scores, 2);
    out = SpreadMatmul(scores, heads.v);
  }
  out = View(out, {batch, config.heads.heads, length, config.heads.head_dim});
  out = Permute(out, {0, 2, 1, 3});
  return Reshape(out, {batch, length, config.heads.hidden});
}

Tensor FalconAttention::AttendBiased(const Heads& heads,
                                     const FalconContext& context, DType dtype,
                                     std::vector<Tensor>& names) const {
  const int64_t batch = heads.q.size(0);
  const int64_t length = heads.q.size(2);
  const int64_t count = config.heads.heads;
  const int64_t dim = config.heads.head_dim;
  if (context.attention == "sdpa") {
    const bool training = module.builder().execution().training;
    Tensor out =
        Kernel(heads, context, training ? config.attention_dropout : 0);
    out = Transpose(out, 1, 2);
    return Reshape(out, {batch, length, config.heads.hidden});
  }
  const Shape by_head = {batch, count, length, heads.k.size(2)};
  const Tensor product = SpreadMatmul(heads.q, Transpose(heads.k, -1, -2));
  Tensor scores = View(product, by_head);
  if (scores.dtype() != DType::kFloat32) scores = To(scores, DType::kFloat32);
  Tensor logits = Add(scores, View(context.alibi, {batch, count, 1, -1}));
  logits = MulScalarInto(logits, 1 / std::sqrt(static_cast<double>(dim)));
  Tensor shares = SoftmaxAs(Add(logits, context.mask), dtype);
  shares = attention_dropout.Forward(shares);
  module.builder().ReturnBeside(shares, 2);
  const Tensor seen = View(shares, by_head);
  const auto multiply = [&] {
    const Tensor out = SpreadMatmul(seen, heads.v);
    return View(out, {batch * count, length, dim});
  };
  const Tensor flat = multiply();
  const auto merge = [&] {
    const Tensor apart = View(flat, {batch, count, length, dim});
    return Reshape(Permute(apart, {0, 2, 1, 3}),
                   {batch, length, config.heads.hidden});
  };
  // Names of the source's forward, which goes on.
  names = {product, scores, logits, shares, seen};
  return merge();
}

Tensor FalconAttention::Forward(const Tensor& hidden,
                                const FalconContext& context) const {
  const Scope scope = module.Enter();
  const int64_t batch = hidden.size(0);
  const int64_t length = hidden.size(1);
  const int64_t dim = config.heads.head_dim;
  const Tensor fused = query_key_value.Forward(hidden);
  Heads heads = Part(fused);
  const Shape q_shape = {batch, config.heads.heads, length, dim};
  const Shape kv_shape = {batch, config.kept_heads(), length, dim};
  heads.q = Reshape(Transpose(heads.q, 1, 2), q_shape);
  heads.k = Reshape(Transpose(heads.k, 1, 2), kv_shape);
  heads.v = Reshape(Transpose(heads.v, 1, 2), kv_shape);
  if (!config.has_alibi) {
    std::tie(heads.q, heads.k) = ApplyRotary(
        heads.q, heads.k, context.rotary.first, context.rotary.second);
  }
  if (CachedLayer* cached = context.cache->NextLayer()) {
    std::tie(heads.k, heads.v) = FillCache(*cached, heads.k, heads.v, 0);
  }
  std::vector<Tensor> names;
  const Tensor out = config.has_alibi
                         ? AttendBiased(heads, context, hidden.dtype(), names)
                         : AttendTurned(heads, context, hidden.dtype());
  return dense.Forward(out);
}

FalconMlp::FalconMlp(const Module& at, const FalconConfig& config)
    : module(at),
      dense_h_to_4h(SpelledOut(at, "dense_h_to_4h", config.heads.hidden,
                               config.inner, config.bias)),
      act(at.Child("act"), config.activation),
      dense_4h_to_h(SpelledOut(at, "dense_4h_to_h", config.inner,
                               config.heads.hidden, config.bias)) {}

Tensor FalconMlp::Forward(const Tensor& input) const {
  const Scope scope = module.Enter();
  const auto activate = [&] {
    return act.Forward(dense_h_to_4h.Forward(input));
  };
  const Tensor hidden = activate();
  return dense_4h_to_h.Forward(hidden);
}

FalconLayer::FalconLayer(const Module& at, const FalconConfig& settings)
    : module(at),
      config(settings),
      self_attention(at.Child("self_attention", RegionKind::kAttention),
                     config),
      mlp(at.Child("mlp", RegionKind::kMlp), config),
      post_attention_layernorm(
          NormIf(at, "post_attention_layernorm", config, !config.is_parallel)),
      input_layernorm(
          NormIf(at, "input_layernorm", config, !config.has_two_norms())),
      ln_attn(NormIf(at, "ln_attn", config, config.has_two_norms())),
      ln_mlp(NormIf(at, "ln_mlp", config, config.has_two_norms())) {}

Tensor FalconLayer::Forward(const Tensor& hidden,
                            const FalconContext& context) const {
  const CheckpointScope checkpoint(
      module.builder(), {hidden},
      {context.mask, context.position_ids, context.alibi, context.rotary.first,
       context.rotary.second});
  const Scope scope = module.Enter();
  Tensor residual = hidden;
  Tensor read;  // what the feed-forward reads
  Tensor normed;
  if (config.has_two_norms()) {
    normed = ln_attn->Forward(hidden);
    read = ln_mlp->Forward(hidden);
  } else {
    normed = input_layernorm->Forward(hidden);
    if (config.is_parallel) read = normed;
  }
  const Tensor attended = self_attention.Forward(normed, context);
  if (!config.is_parallel) {
    residual = Add(residual, ApplyDropout(attended, config.attention_dropout));
    read = post_attention_layernorm->Forward(residual);
  }
  Tensor output = mlp.Forward(read);
  if (config.is_parallel) output = AddInto(output, attended);
  return Add(residual, ApplyDropout(output, config.hidden_dropout));
}

}  // namespace foretell
