#include "models/layers/gpt2_block.h"

#include <cmath>
#include <tuple>
#include <utility>

#include "graph/autocast.h"
#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/matmul.h"
#include "graph/ops/powers.h"
#include "graph/ops/reduction.h"
#include "graph/ops/views.h"
#include "models/layers/dynamic_cache.h"
#include "models/layers/functional.h"
#include "models/layers/plain_attention.h"

namespace foretell {
namespace {

double ScaleOf(const Gpt2BlockConfig& config, int64_t index) {
  double scale = 1;
  if (config.scale_weights) {
    scale = 1 / std::sqrt(static_cast<double>(config.head_dim));
  }
  if (config.scale_by_layer) scale /= static_cast<double>(index + 1);
  return scale;
}

std::optional<Conv1D> QueryProjection(const Module& at, int64_t hidden,
                                      bool is_cross) {
  if (!is_cross) return std::nullopt;
  return Conv1D(at.Child("q_attn", RegionKind::kLinear), hidden, hidden);
}

}  // namespace

Gpt2Attention::Gpt2Attention(const Module& at, const Gpt2BlockConfig& settings,
                             int64_t index, bool is_cross)
    : module(at),
      config(settings),
      layer_number(static_cast<double>(index + 1)),
      scale(ScaleOf(settings, index)),
      c_attn(at.Child("c_attn", RegionKind::kLinear), config.hidden,
             (is_cross ? 2 : 3) * config.hidden),
      q_attn(QueryProjection(at, config.hidden, is_cross)),
      c_proj(at.Child("c_proj", RegionKind::kLinear), config.hidden,
             config.hidden),
      attn_dropout(at.Child("attn_dropout"), config.attention_dropout),
      resid_dropout(at.Child("resid_dropout"), config.residual_dropout) {
  Builder& builder = at.builder();
  if (!builder.library().gpt2_holds_its_mask) return;
  at.Buffer("bias", {1, 1, config.positions, config.positions}, DType::kBool,
            false);
  bias = builder.graph().buffers.back().value;
  at.Buffer("masked_bias", {}, builder.dtype(), false);
}

Tensor Gpt2Attention::MaskedAttention(const Tensor& q, const Tensor& k,
                                      const Tensor& v,
                                      const Tensor& mask) const {
  Builder& builder = module.builder();
  Tensor weights = Matmul(q, Transpose(k, -1, -2));
  if (config.scale_weights) {
    const double root = std::sqrt(static_cast<double>(config.head_dim));
    weights = Div(weights, Full(builder, {}, root, weights.dtype()));
  }
  if (config.scale_by_layer) weights = DivScalar(weights, layer_number);
  const int64_t length = q.size(2);
  const int64_t keys = k.size(2);
  const Tensor seen =
      Slice(Slice(builder.Read(*bias), 2, keys - length, keys), 3, 0, keys);
  const Tensor smallest =
      Full(builder, {}, SmallestOf(weights.dtype()), weights.dtype());
  weights = Where(seen, weights, smallest);
  weights = Add(weights, Alias(mask));
  weights = SoftmaxOp(weights, -1);
  weights = To(weights, v.dtype());
  weights = attn_dropout.Forward(weights);
  builder.ReturnBeside(weights);
  return Transpose(Matmul(weights, v), 1, 2);
}

// Scores are made in float32, with the scale inside the product.
Tensor Gpt2Attention::UpcastAttention(const Tensor& q, const Tensor& k,
                                      const Tensor& v,
                                      const Tensor& mask) const {
  const int64_t batch = q.size(0);
  const int64_t length = q.size(2);
  const int64_t key_length = k.size(2);
  Tensor weights = Empty(
      q.builder(), {batch * config.heads, length, key_length}, DType::kFloat32);
  const Tensor rows = Reshape(q, {-1, length, config.head_dim});
  const Tensor columns =
      Reshape(Transpose(k, -1, -2), {-1, config.head_dim, key_length});
  {
    const AutocastScope exactly(q.builder(), std::nullopt);
    const Tensor exact = To(rows, DType::kFloat32);
    weights = Baddbmm(weights, exact, To(columns, DType::kFloat32), scale);
  }
  weights = Reshape(weights, {batch, config.heads, length, key_length});
  if (!mask.empty()) weights = Add(weights, mask);
  weights = SoftmaxOp(weights, -1);
  weights = To(weights, v.dtype());
  weights = attn_dropout.Forward(weights);
  q.builder().ReturnBeside(weights);
  return Transpose(Matmul(weights, v), 1, 2);
}

Tensor Gpt2Attention::Forward(const Tensor& hidden, const Tensor& mask,
                              std::string_view attention,
                              CachedLayer* cached) const {
  const Scope scope = module.Enter();
  const std::vector<Tensor> parts =
      Split(c_attn.Forward(hidden), config.hidden, 2);
  Tensor k = SplitHeads(parts[1], config.head_dim);
  Tensor v = SplitHeads(parts[2], config.head_dim);
  const Tensor q = SplitHeads(parts[0], config.head_dim);
  if (cached != nullptr) std::tie(k, v) = FillCache(*cached, k, v, 0);
  Tensor out;
  if (attention == "eager" && bias) {
    if (config.reorder_and_upcast) {
      module.builder().Fail(
          "reorder_and_upcast_attn is followed as transformers 5.23 has it");
    }
    out = MaskedAttention(q, k, v, mask);
  } else if (attention == "eager" && config.reorder_and_upcast) {
    out = UpcastAttention(q, k, v, mask);
  } else {
    PlainAttentionCall call;
    call.casts_weights = true;
    call.mask = mask;
    call.dropout = config.attention_dropout;
    call.scale = scale;
    call.causal = true;
    call.attention = attention;
    out = AttendPlainly(q, k, v, call);
  }
  out = Contiguous(Reshape(out, {out.size(0), out.size(1), -1}));
  out = c_proj.Forward(out);
  return resid_dropout.Forward(out);
}

Gpt2Mlp::Gpt2Mlp(const Module& at, const Gpt2BlockConfig& config)
    : module(at),
      c_fc(at.Child("c_fc", RegionKind::kLinear), config.hidden, config.inner),
      c_proj(at.Child("c_proj", RegionKind::kLinear), config.inner,
             config.hidden),
      act(at.Child("act"), config.activation),
      dropout(at.Child("dropout"), config.residual_dropout) {}

Tensor Gpt2Mlp::Forward(Tensor hidden) const {
  const Scope scope = module.Enter();
  hidden = c_fc.Forward(hidden);
  hidden = act.Forward(hidden);
  hidden = c_proj.Forward(hidden);
  return dropout.Forward(hidden);
}

Gpt2Block::Gpt2Block(const Module& at, const Gpt2BlockConfig& config,
                     int64_t index)
    : module(at),
      ln_1(at.Child("ln_1", RegionKind::kNorm), config.hidden,
           config.norm_epsilon),
      attn(at.Child("attn", RegionKind::kAttention), config, index, false),
      ln_2(at.Child("ln_2", RegionKind::kNorm), config.hidden,
           config.norm_epsilon),
      crossattention(
          config.cross_attention
              ? std::optional<Gpt2Attention>(
                    std::in_place,
                    at.Child("crossattention", RegionKind::kAttention), config,
                    index, true)
              : std::nullopt),
      ln_cross_attn(config.cross_attention
                        ? std::optional<LayerNorm>(
                              std::in_place,
                              at.Child("ln_cross_attn", RegionKind::kNorm),
                              config.hidden, config.norm_epsilon)
                        : std::nullopt),
      mlp(at.Child("mlp", RegionKind::kMlp), config) {}

Tensor Gpt2Block::Forward(Tensor hidden, const Tensor& mask,
                          const Tensor& position_ids,
                          std::string_view attention,
                          CachedLayer* cached) const {
  const CheckpointScope checkpoint(module.builder(), {hidden, mask},
                                   {position_ids});
  const Scope scope = module.Enter();
  Tensor residual = hidden;
  hidden = ln_1.Forward(hidden);
  const Tensor attended = attn.Forward(hidden, mask, attention, cached);
  hidden = Add(attended, residual);
  residual = hidden;
  hidden = ln_2.Forward(hidden);
  const Tensor forwarded = mlp.Forward(hidden);
  return Add(residual, forwarded);
}

}  // namespace foretell
