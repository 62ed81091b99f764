#include "models/layers/plain_attention.h"

#include <utility>

#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/reduction.h"
#include "graph/ops/views.h"
#include "models/layers/attention.h"
#include "models/layers/causal_mask.h"
#include "models/layers/dropout.h"
#include "models/layers/functional.h"

namespace foretell {
namespace {

Tensor EagerPlainAttention(const Tensor& q, const Tensor& k, const Tensor& v,
                           const PlainAttentionCall& call) {
  Tensor weights = Matmul(q, Transpose(k, 2, 3));
  weights = MulScalar(weights, call.scale);
  if (!call.position_bias.empty()) weights = Add(weights, call.position_bias);
  if (!call.mask.empty()) weights = Add(weights, call.mask);
  if (call.casts_scores) weights = To(std::move(weights), DType::kFloat32);
  weights = SoftmaxOp(weights, -1);
  if (call.casts_weights) weights = To(std::move(weights), v.dtype());
  weights = ApplyDropout(weights, call.dropout);
  q.builder().ReturnBeside(weights, call.returning_levels);
  return Transpose(Matmul(weights, v), 1, 2);
}

// The bias, and where attention is causal the smallest number ahead of each
// query.
Tensor PositionBiasMask(const Tensor& q, const Tensor& k,
                        const PlainAttentionCall& call) {
  if (!call.causal || q.size(2) <= 1) return Contiguous(call.position_bias);
  Builder& builder = q.builder();
  const int64_t length = q.size(2);
  const int64_t key_length = k.size(2);
  const auto behind = [&] {
    const Tensor rows = Unsqueeze(Arange(builder, length), 1);
    const Tensor columns = Unsqueeze(Arange(builder, key_length), 0);
    return Ge(rows, columns);
  };
  const Tensor causal = View(behind(), {1, 1, length, key_length});
  const auto masked = [&] {
    const Tensor smallest = ScalarTensor(builder, SmallestOf(k.dtype()),
                                         call.position_bias.dtype());
    return Where(causal, call.position_bias, smallest);
  };
  return Contiguous(masked());
}

Tensor SdpaPlainAttention(const Tensor& q, const Tensor& k, const Tensor& v,
                          const PlainAttentionCall& call) {
  AttentionCall sdpa;
  sdpa.mask = call.mask;
  sdpa.causal = call.causal;
  if (!call.position_bias.empty()) {
    sdpa.mask = PositionBiasMask(q, k, call);
    sdpa.causal = false;
  }
  sdpa.dropout = call.dropout;
  sdpa.scale = call.scale;
  sdpa.attention = call.attention;
  return Attend(q, k, v, sdpa);
}

}  // namespace

Tensor AttendPlainly(const Tensor& q, const Tensor& k, const Tensor& v,
                     const PlainAttentionCall& call) {
  return call.attention == "eager" ? EagerPlainAttention(q, k, v, call)
                                   : SdpaPlainAttention(q, k, v, call);
}

Tensor SplitHeads(const Tensor& x, int64_t head_dim) {
  return Transpose(View(x, {x.size(0), x.size(1), -1, head_dim}), 1, 2);
}

}  // namespace foretell
