#include "models/layers/bigcode_block.h"

#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include "graph/ops/elementwise.h"
#include "graph/ops/views.h"
#include "models/layers/attention.h"

namespace foretell {
namespace {

int64_t ProjectionWidth(const BigcodeConfig& config, bool is_cross) {
  const WholeHeads& heads = config.heads;
  if (is_cross) return 2 * heads.hidden;
  return heads.hidden +
         2 * (config.shares_keys ? 1 : heads.heads) * heads.head_dim;
}

std::optional<Linear> QueryProjection(const Module& at, int64_t hidden,
                                      bool is_cross) {
  if (!is_cross) return std::nullopt;
  return Linear(at.Child("q_attn", RegionKind::kLinear), hidden, hidden, true);
}

}  // namespace

BigcodeAttention::BigcodeAttention(const Module& at,
                                   const BigcodeConfig& settings, bool is_cross)
    : module(at),
      config(settings),
      c_attn(at.Child("c_attn", RegionKind::kLinear), config.heads.hidden,
             ProjectionWidth(config, is_cross), true),
      q_attn(QueryProjection(at, config.heads.hidden, is_cross)),
      c_proj(at.Child("c_proj", RegionKind::kLinear), config.heads.hidden,
             config.heads.hidden, true),
      resid_dropout(at.Child("resid_dropout"), config.residual_dropout) {}

Tensor BigcodeAttention::Forward(const Tensor& hidden, const Tensor& mask,
                                 std::string_view attention,
                                 CachedLayer* cached) const {
  const Scope scope = module.Enter();
  const int64_t batch = hidden.size(0);
  const int64_t length = hidden.size(1);
  const int64_t dim = config.heads.head_dim;
  const int64_t width = config.heads.hidden;
  const auto project = [&] {
    if (config.shares_keys) {
      return SplitSizes(Unsqueeze(c_attn.Forward(hidden), 1), {width, dim, dim},
                        3);
    }
    const Tensor heads =
        Transpose(View(c_attn.Forward(hidden),
                       {batch, length, config.heads.heads, 3 * dim}),
                  1, 2);
    return SplitSizes(heads, {dim, dim, dim}, 3);
  };
  std::vector<Tensor> parts = project();
  if (parts.size() != 3) return hidden;  // the graph has failed
  Tensor q = std::move(parts[0]);
  Tensor k = std::move(parts[1]);
  Tensor v = std::move(parts[2]);
  if (config.shares_keys) {
    q = Transpose(View(q, {batch, length, -1, dim}), 1, 2);
  }
  if (cached != nullptr) std::tie(k, v) = FillCache(*cached, k, v, 0);
  AttentionCall call;
  call.mask = mask;
  call.dropout = config.attention_dropout;
  call.scale = config.scales ? 1 / std::sqrt(static_cast<double>(dim)) : 1;
  call.attention = attention;
  Tensor out = Attend(q, k, v, call);
  out = Reshape(out, {batch, length, -1});
  out = c_proj.Forward(out);
  return resid_dropout.Forward(out);
}

BigcodeMlp::BigcodeMlp(const Module& at, const BigcodeConfig& config)
    : module(at),
      c_fc(at.Child("c_fc", RegionKind::kLinear), config.heads.hidden,
           config.inner, true),
      c_proj(at.Child("c_proj", RegionKind::kLinear), config.inner,
             config.heads.hidden, true),
      act(at.Child("act"), config.activation),
      dropout(at.Child("dropout"), config.residual_dropout) {}

Tensor BigcodeMlp::Forward(Tensor hidden) const {
  const Scope scope = module.Enter();
  hidden = c_fc.Forward(hidden);
  hidden = act.Forward(hidden);
  hidden = c_proj.Forward(hidden);
  return dropout.Forward(hidden);
}

BigcodeBlock::BigcodeBlock(const Module& at, const BigcodeConfig& config)
    : module(at),
      ln_1(at.Child("ln_1", RegionKind::kNorm), config.heads.hidden,
           config.norm_epsilon),
      attn(at.Child("attn", RegionKind::kAttention), config, false),
      ln_2(at.Child("ln_2", RegionKind::kNorm), config.heads.hidden,
           config.norm_epsilon),
      crossattention(
          config.cross_attention
              ? std::optional<BigcodeAttention>(
                    std::in_place,
                    at.Child("crossattention", RegionKind::kAttention), config,
                    true)
              : std::nullopt),
      ln_cross_attn(config.cross_attention
                        ? std::optional<LayerNorm>(
                              std::in_place,
                              at.Child("ln_cross_attn", RegionKind::kNorm),
                              config.heads.hidden, config.norm_epsilon)
                        : std::nullopt),
      mlp(at.Child("mlp", RegionKind::kMlp), config) {}

Tensor BigcodeBlock::Forward(Tensor hidden, const Tensor& mask,
                             std::string_view attention,
                             CachedLayer* cached) const {
  const CheckpointScope checkpoint(module.builder(), {hidden}, {mask});
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
