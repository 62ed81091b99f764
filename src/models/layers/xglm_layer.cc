#include "models/layers/xglm_layer.h"

#include <cmath>
#include <string_view>
#include <tuple>
#include <utility>

#include "graph/ops/elementwise.h"
#include "graph/ops/indexing.h"
#include "graph/ops/matmul.h"
#include "graph/ops/powers.h"
#include "graph/ops/reduction.h"
#include "graph/ops/views.h"
#include "models/layers/functional.h"

namespace foretell {
namespace {

constexpr int64_t kOffset = 2;
constexpr double kEpsilon = 1e-5;  // torch's own

Linear Projection(const Module& at, std::string_view name, int64_t width) {
  return Linear(at.Child(name, RegionKind::kLinear), width, width, true);
}

}  // namespace

XglmEmbedding::XglmEmbedding(const Module& at, const XglmConfig& config)
    : module(at),
      scale(config.embedding_scale),
      weight(at.Parameter("weight", {config.vocabulary, config.heads.hidden})) {
}

Tensor XglmEmbedding::Forward(const Tensor& ids) const {
  const Scope scope = module.Enter();
  Tensor rows =
      MulScalar(EmbeddingOp(module.builder().Read(weight), ids), scale);
  RequireInputGradient(module, rows);
  return rows;
}

XglmPositions::XglmPositions(const Module& at, const XglmConfig& config)
    : module(at) {
  at.Buffer("weights", {config.positions + kOffset, config.heads.hidden},
            at.builder().dtype(), false);
  weights = at.builder().graph().buffers.back().value;
}

Tensor XglmPositions::Forward(const Tensor& position_ids, int64_t past) const {
  const Scope scope = module.Enter();
  Builder& builder = module.builder();
  const Tensor table = builder.Read(weights);
  const int64_t length = position_ids.size(1);
  if (kOffset + length + past > table.size(0)) {
    builder.Fail("a table of positions that grows is not modelled");
  }
  const Tensor shifted = AddScalar(position_ids, kOffset);
  const auto pick = [&] {
    const Tensor rows = IndexSelect(table, View(shifted, {-1}));
    return View(rows, {position_ids.size(0), length, table.size(1)});
  };
  return Detach(pick());
}

XglmAttention::XglmAttention(const Module& at, const XglmConfig& config)
    : module(at),
      heads(config.heads),
      dropout(config.attention_dropout),
      k_proj(Projection(at, "k_proj", heads.hidden)),
      v_proj(Projection(at, "v_proj", heads.hidden)),
      q_proj(Projection(at, "q_proj", heads.hidden)),
      out_proj(Projection(at, "out_proj", heads.hidden)) {}

Tensor XglmAttention::Forward(const Tensor& hidden, const Tensor& mask,
                              CachedLayer* cached) const {
  const Scope scope = module.Enter();
  Builder& builder = module.builder();
  const int64_t batch = hidden.size(0);
  const int64_t length = hidden.size(1);
  const int64_t dim = heads.head_dim;
  const Shape apart = {batch, length, -1, dim};
  Tensor q = MulScalar(q_proj.Forward(hidden),
                       1 / std::sqrt(static_cast<double>(dim)));
  Tensor k = k_proj.Forward(hidden);
  Tensor v = v_proj.Forward(hidden);
  k = Transpose(View(k, apart), 1, 2);
  v = Transpose(View(v, apart), 1, 2);
  if (cached != nullptr) std::tie(k, v) = FillCache(*cached, k, v, 0);
  const Shape rows = {batch * heads.heads, -1, dim};
  q = Transpose(View(q, {batch, length, heads.heads, dim}), 1, 2);
  q = Reshape(q, rows);
  k = Reshape(k, rows);
  v = Reshape(v, rows);
  const int64_t keys = k.size(1);
  const Shape by_head = {batch, heads.heads, length, keys};
  const Shape flat = {batch * heads.heads, length, keys};
  Tensor weights = Bmm(q, Transpose(k, 1, 2));
  if (!mask.empty()) {
    weights = Add(View(weights, by_head), mask);
    weights = Maximum(weights, Full(builder, {}, SmallestOf(weights.dtype()),
                                    DType::kFloat32));
    weights = View(weights, flat);
  }
  if (weights.dtype() == DType::kFloat16) {
    weights = To(SoftmaxInFloat(weights, -1), DType::kFloat16);
  } else {
    weights = SoftmaxOp(weights, -1);
  }
  const Tensor returned = View(weights, by_head);
  weights = View(returned, flat);
  builder.ReturnBeside(returned);
  const Tensor shares = ApplyDropout(weights, dropout);
  Tensor out = Bmm(shares, v);
  out = View(out, {batch, heads.heads, length, dim});
  out = Transpose(out, 1, 2);
  out = Reshape(out, {batch, length, heads.hidden});
  return out_proj.Forward(out);
}

XglmLayer::XglmLayer(const Module& at, const XglmConfig& settings)
    : module(at),
      config(settings),
      self_attn(at.Child("self_attn", RegionKind::kAttention), config),
      activation_fn(at.Child("activation_fn"), config.activation),
      encoder_attn(config.cross_attention
                       ? std::optional<XglmAttention>(
                             std::in_place,
                             at.Child("encoder_attn", RegionKind::kAttention),
                             config)
                       : std::nullopt),
      encoder_attn_layer_norm(
          config.cross_attention
              ? std::optional<LayerNorm>(
                    std::in_place,
                    at.Child("encoder_attn_layer_norm", RegionKind::kNorm),
                    config.heads.hidden, kEpsilon)
              : std::nullopt),
      self_attn_layer_norm(at.Child("self_attn_layer_norm", RegionKind::kNorm),
                           config.heads.hidden, kEpsilon),
      fc1(at.Child("fc1", RegionKind::kLinear), config.heads.hidden,
          config.inner, true),
      fc2(at.Child("fc2", RegionKind::kLinear), config.inner,
          config.heads.hidden, true),
      final_layer_norm(at.Child("final_layer_norm", RegionKind::kNorm),
                       config.heads.hidden, kEpsilon) {}

Tensor XglmLayer::Forward(const Tensor& input, const Tensor& mask,
                          CachedLayer* cached) const {
  const CheckpointScope checkpoint(module.builder(), {input, mask});
  const Scope scope = module.Enter();
  Tensor residual = input;
  Tensor hidden = self_attn_layer_norm.Forward(input);
  hidden = self_attn.Forward(hidden, mask, cached);
  hidden = ApplyDropout(hidden, config.dropout);
  hidden = Add(residual, hidden);
  residual = hidden;
  hidden = final_layer_norm.Forward(hidden);
  const auto activate = [&] {
    return activation_fn.Forward(fc1.Forward(hidden));
  };
  hidden = activate();
  hidden = ApplyDropout(hidden, config.activation_dropout);
  hidden = fc2.Forward(hidden);
  hidden = ApplyDropout(hidden, config.dropout);
  return Add(residual, hidden);
}

}  // namespace foretell
