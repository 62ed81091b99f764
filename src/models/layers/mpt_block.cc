#include "models/layers/mpt_block.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "graph/ops/activations.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/powers.h"
#include "graph/ops/reduction.h"
#include "graph/ops/views.h"
#include "models/layers/functional.h"

namespace foretell {
namespace {

constexpr int64_t kToTheEnd = std::numeric_limits<int64_t>::max();

}  // namespace

Tensor MptAlibi(Builder& builder, int64_t heads, int64_t positions) {
  Tensor alibi = View(WholesFrom(builder, 1 - positions, 1, DType::kInt32),
                      {1, 1, 1, positions});
  int64_t even = 1;  // the least power of two that is no smaller
  while (even < heads) even *= 2;
  Tensor base =
      To(WholesFrom(builder, 1, even + 1, DType::kInt64), DType::kFloat32);
  // By alibi_bias_max / even, a number.
  base = MulScalar(base, 1);
  // 1.0 / torch.pow(2, base)
  const auto divide = [&] {
    const Tensor power = PowOfNumber(2, base);
    const Tensor inverse = Reciprocal(power);
    return MulScalar(inverse, 1);
  };
  Tensor slopes = divide();
  slopes = View(slopes, {1, even, 1, 1});
  if (even != heads) {
    const auto interleave = [&] {
      const Tensor odd = Slice(slopes, 1, 1, kToTheEnd, 2);
      const Tensor joined = Cat2(odd, Slice(slopes, 1, 0, kToTheEnd, 2), 1);
      return Slice(joined, 1, 0, heads);
    };
    slopes = interleave();
  }
  alibi = Mul(alibi, slopes);
  return SqueezeAxis(alibi, 0);
}

MptAttention::MptAttention(const Module& at, const MptConfig& settings)
    : module(at),
      config(settings),
      Wqkv(at.Child("Wqkv", RegionKind::kLinear), config.heads.hidden,
           3 * config.heads.hidden, false),
      out_proj(at.Child("out_proj", RegionKind::kLinear), config.heads.hidden,
               config.heads.hidden, false) {}

Tensor MptAttention::Forward(const Tensor& hidden, const Tensor& position_bias,
                             const Tensor& mask, CachedLayer* cached) const {
  const Scope scope = module.Enter();
  const int64_t batch = hidden.size(0);
  const int64_t length = hidden.size(1);
  const Shape shape = {batch, length, config.heads.heads,
                       config.heads.head_dim};
  Tensor qkv = Wqkv.Forward(hidden);
  if (config.clip) qkv = Clamp(qkv, -*config.clip, *config.clip);
  std::vector<Tensor> parts = Split(qkv, config.heads.hidden, 2);
  if (parts.size() != 3) return hidden;  // the graph has failed
  Tensor q = std::move(parts[0]);
  Tensor k = std::move(parts[1]);
  Tensor v = std::move(parts[2]);
  for (Tensor* one : {&q, &k, &v}) {
    *one = Transpose(Reshape(*one, shape), 1, 2);
  }
  if (cached != nullptr) std::tie(k, v) = FillCache(*cached, k, v, 0);
  Tensor scores = MulScalar(Matmul(q, Transpose(k, -1, -2)), config.scale);
  const int64_t first = std::max<int64_t>(0, position_bias.size(2) - k.size(2));
  const Tensor bias = first > 0 ? Slice(position_bias, 2, first, kToTheEnd)
                                : Alias(position_bias);
  scores = Add(scores, bias);
  scores = MaskedFill(scores, mask, SmallestOf(q.dtype()));
  Tensor weights = To(SoftmaxOp(To(scores, DType::kFloat32), -1), v.dtype());
  weights = ApplyDropout(weights, config.dropout);
  // Its block returns the weights too.
  module.builder().ReturnBeside(weights, 2);
  Tensor out = Matmul(weights, v);
  const auto merge = [&] {
    const Tensor rows = Contiguous(Permute(out, {0, 2, 1, 3}));
    return View(rows, {batch, length, -1});
  };
  out = merge();
  return out_proj.Forward(out);
}

MptMlp::MptMlp(const Module& at, const MptConfig& config)
    : module(at),
      dropout(config.dropout),
      up_proj(at.Child("up_proj", RegionKind::kLinear), config.heads.hidden,
              4 * config.heads.hidden, false),
      act(at.Child("act"), Activation::kGelu),
      down_proj(at.Child("down_proj", RegionKind::kLinear),
                4 * config.heads.hidden, config.heads.hidden, false) {}

Tensor MptMlp::Forward(const Tensor& input, const Tensor& residual) const {
  const Scope scope = module.Enter();
  const auto activate = [&] { return act.Forward(up_proj.Forward(input)); };
  const Tensor hidden = activate();
  const Tensor product = down_proj.Forward(hidden);
  const Tensor output = ApplyDropout(product, dropout);
  return Add(output, residual);
}

MptBlock::MptBlock(const Module& at, const MptConfig& config)
    : module(at),
      norm_1(at.Child("norm_1", RegionKind::kNorm), config.heads.hidden,
             config.norm_epsilon, LayerNormTerms::kWeight),
      attn(at.Child("attn", RegionKind::kAttention), config),
      norm_2(at.Child("norm_2", RegionKind::kNorm), config.heads.hidden,
             config.norm_epsilon, LayerNormTerms::kWeight),
      ffn(at.Child("ffn", RegionKind::kMlp), config),
      resid_attn_dropout(at.Child("resid_attn_dropout"), config.dropout) {}

Tensor MptBlock::Forward(Tensor hidden, const Tensor& bias, const Tensor& mask,
                         CachedLayer* cached) const {
  const CheckpointScope checkpoint(module.builder(), {hidden}, {bias, mask});
  const Scope scope = module.Enter();
  Tensor normed = norm_1.Forward(hidden);
  Tensor residual = hidden;
  const Tensor attended = attn.Forward(normed, bias, mask, cached);
  hidden = Add(resid_attn_dropout.Forward(attended), residual);
  normed = norm_2.Forward(hidden);
  residual = hidden;
  return ffn.Forward(normed, residual);
}

}  // namespace foretell
