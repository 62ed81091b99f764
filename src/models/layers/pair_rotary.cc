#include "models/layers/pair_rotary.h"

#include <cstdint>
#include <limits>

#include "graph/ops/elementwise.h"
#include "graph/ops/indexing.h"
#include "graph/ops/views.h"
#include "models/layers/functional.h"

namespace foretell {
namespace {

constexpr int64_t kToTheEnd = std::numeric_limits<int64_t>::max();

Tensor RotatePairs(const Tensor& x) {
  const int axis = x.shape().rank() - 1;
  const Tensor first = Slice(x, axis, 0, kToTheEnd, 2);
  const Tensor second = Slice(x, axis, 1, kToTheEnd, 2);
  const auto stack = [&] {
    const Tensor parts[] = {Neg(second), first};
    return Stack(parts, -1);
  };
  const Tensor stacked = stack();
  Shape out = stacked.shape();
  if (out.rank() < 2) return x;  // the graph has failed already
  out = x.shape();
  out.Set(-1, 2 * first.size(-1));
  return View(stacked, out);
}

Tensor FirstHalfTwice(const Tensor& angles) {
  const int axis = angles.shape().rank() - 1;
  return RepeatEach(SliceRange(angles, axis, 0, angles.size(-1) / 2), 2);
}

Tensor Turn(const Tensor& x, const Tensor& cosines, const Tensor& sines) {
  const Tensor straight = Mul(x, cosines);
  return Add(straight, Mul(RotatePairs(x), sines));
}

}  // namespace

std::pair<Tensor, Tensor> ApplyPairRotary(const Tensor& q, const Tensor& k,
                                          Tensor cosines, Tensor sines) {
  const DType dtype = q.dtype();
  const Tensor q_wide = To(q, DType::kFloat32);
  const Tensor k_wide = To(k, DType::kFloat32);
  cosines = Unsqueeze(cosines, 1);
  sines = Unsqueeze(sines, 1);
  const Tensor q_turned = Turn(q_wide, cosines, sines);
  const Tensor k_turned = Turn(k_wide, cosines, sines);
  const Tensor q_out = To(q_turned, dtype);
  return {q_out, To(k_turned, dtype)};
}

std::pair<Tensor, Tensor> ApplyPartialPairRotary(const Tensor& q,
                                                 const Tensor& k,
                                                 Tensor cosines, Tensor sines) {
  cosines = Unsqueeze(cosines, 1);
  sines = Unsqueeze(sines, 1);
  cosines = FirstHalfTwice(cosines);
  sines = FirstHalfTwice(sines);
  const int64_t dims = cosines.size(-1);
  const int axis = q.shape().rank() - 1;
  const Tensor q_turns = SliceRange(q, axis, 0, dims);
  const Tensor q_passes = Slice(q, axis, dims, kToTheEnd);
  const Tensor k_turns = SliceRange(k, axis, 0, dims);
  const Tensor k_passes = Slice(k, axis, dims, kToTheEnd);
  Tensor q_out = Turn(q_turns, cosines, sines);
  Tensor k_out = Turn(k_turns, cosines, sines);
  q_out = Cat2(q_out, q_passes, -1);
  k_out = Cat2(k_out, k_passes, -1);
  return {q_out, k_out};
}

std::pair<Tensor, Tensor> ApplyWidePairRotary(const Tensor& q, const Tensor& k,
                                              Tensor cosines, Tensor sines) {
  const DType dtype = q.dtype();
  cosines = Unsqueeze(cosines, 1);
  sines = Unsqueeze(sines, 1);
  cosines = FirstHalfTwice(cosines);
  sines = FirstHalfTwice(sines);
  const auto turn = [&](const Tensor& x) {
    const Tensor straight = Mul(To(x, DType::kFloat32), cosines);
    return Add(straight, Mul(To(RotatePairs(x), DType::kFloat32), sines));
  };
  const Tensor q_turned = turn(q);
  const Tensor k_turned = turn(k);
  const Tensor q_out = To(q_turned, dtype);
  return {q_out, To(k_turned, dtype)};
}

}  // namespace foretell
