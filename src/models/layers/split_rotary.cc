#include "models/layers/split_rotary.h"

#include <cstdint>
#include <limits>

#include "graph/ops/elementwise.h"
#include "graph/ops/views.h"
#include "models/layers/functional.h"

namespace foretell {
namespace {

constexpr int64_t kToTheEnd = std::numeric_limits<int64_t>::max();

Tensor RotateHalf(const Tensor& x) {
  const int64_t half = x.size(-1) / 2;
  const int axis = x.shape().rank() - 1;
  const Tensor first = Slice(x, axis, 0, half);
  const Tensor second = Slice(x, axis, half, kToTheEnd);
  return Cat2(Neg(second), first, -1);
}

}  // namespace

std::pair<Tensor, Tensor> ApplySplitRotary(const Tensor& q, const Tensor& k,
                                           Tensor cosines, Tensor sines) {
  cosines = Unsqueeze(cosines, 1);
  sines = Unsqueeze(sines, 1);
  const int64_t dims = cosines.size(-1);
  const int axis = q.shape().rank() - 1;
  const Tensor q_turns = SliceRange(q, axis, 0, dims);
  const Tensor q_passes = Slice(q, axis, dims, kToTheEnd);
  const Tensor k_turns = SliceRange(k, axis, 0, dims);
  const Tensor k_passes = Slice(k, axis, dims, kToTheEnd);
  const auto turn = [&](const Tensor& x) {
    const Tensor straight = Mul(x, cosines);
    return Add(straight, Mul(RotateHalf(x), sines));
  };
  Tensor q_out = turn(q_turns);
  Tensor k_out = turn(k_turns);
  q_out = Cat2(q_out, q_passes, -1);
  k_out = Cat2(k_out, k_passes, -1);
  return {q_out, k_out};
}

}  // namespace foretell
