#include "models/layers/scored_attention.h"

#include <cmath>

#include "graph/ops/elementwise.h"
#include "graph/ops/in_place.h"
#include "graph/ops/reduction.h"
#include "graph/ops/views.h"
#include "models/layers/functional.h"

namespace foretell {

ScoredAttention AttendByScores(const Tensor& q, const Tensor& k,
                               const Tensor& v, const Tensor& bias,
                               const Tensor& mask, const Dropout& dropout) {
  ScoredAttention out;
  out.scores = Matmul(q, Transpose(k, -1, -2));
  out.scores =
      DivScalar(out.scores, std::sqrt(static_cast<double>(q.size(-1))));
  if (!bias.empty()) out.scores = AddInto(out.scores, bias);
  if (!mask.empty()) out.scores = Add(out.scores, mask);
  out.weights = SoftmaxOp(out.scores, -1);
  out.weights = dropout.Forward(out.weights);
  out.out = Matmul(out.weights, v);
  out.out = Contiguous(Permute(out.out, {0, 2, 1, 3}));
  out.out = View(out.out, {out.out.size(0), out.out.size(1),
                           out.out.size(2) * out.out.size(3)});
  return out;
}

}  // namespace foretell
