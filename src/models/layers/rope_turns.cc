// How queries and keys are turned by cosines and sines.
#include <limits>
#include <utility>

#include "graph/ops/elementwise.h"
#include "graph/ops/views.h"
#include "models/layers/functional.h"
#include "models/layers/rope.h"

namespace foretell {
namespace {

Tensor RotateHalf(const Tensor& x) {
  const int64_t half = x.size(-1) / 2;
  const int axis = x.shape().rank() - 1;
  const Tensor first = Slice(x, axis, 0, half);
  const Tensor second =
      Slice(x, axis, half, std::numeric_limits<int64_t>::max());
  return Cat2(Neg(second), first, -1);
}

}  // namespace

std::pair<Tensor, Tensor> ApplyRotary(const Tensor& q, const Tensor& k,
                                      Tensor cosines, Tensor sines) {
  return ApplyRotaryAt(q, k, std::move(cosines), std::move(sines), 1);
}

std::pair<Tensor, Tensor> ApplyRotaryAt(const Tensor& q, const Tensor& k,
                                        Tensor cosines, Tensor sines,
                                        int axis) {
  cosines = Unsqueeze(cosines, axis);
  sines = Unsqueeze(sines, axis);
  const auto turn = [&](const Tensor& x) {
    const Tensor straight = Mul(x, cosines);
    return Add(straight, Mul(RotateHalf(x), sines));
  };
  const Tensor q_turned = turn(q);
  return {q_turned, turn(k)};
}

std::pair<Tensor, Tensor> ApplyPartialRotary(const Tensor& q, const Tensor& k,
                                             Tensor cosines, Tensor sines) {
  cosines = Unsqueeze(cosines, 1);
  sines = Unsqueeze(sines, 1);
  const int64_t dims = cosines.size(-1);
  const int axis = q.shape().rank() - 1;
  const auto rest = [&](const Tensor& x) {
    return Slice(x, axis, dims, std::numeric_limits<int64_t>::max());
  };
  const Tensor q_turns = SliceRange(q, axis, 0, dims);
  const Tensor q_passes = rest(q);
  const Tensor k_turns = SliceRange(k, axis, 0, dims);
  const Tensor k_passes = rest(k);
  const auto turn = [&](const Tensor& x) {
    const Tensor straight = Mul(x, cosines);
    return Add(straight, Mul(RotateHalf(x), sines));
  };
  const Tensor q_out = Cat2(turn(q_turns), q_passes, -1);
  return {q_out, Cat2(turn(k_turns), k_passes, -1)};
}

namespace {

// The first dims of each head, turned, and the rest.
struct TurnedParts {
  Tensor q;
  Tensor k;
  Tensor q_passes;
  Tensor k_passes;
};

TurnedParts TurnParts(const Tensor& q, const Tensor& k, Tensor cosines,
                      Tensor sines) {
  cosines = Unsqueeze(cosines, 1);
  sines = Unsqueeze(sines, 1);
  const int64_t dims = cosines.size(-1);
  const int axis = q.shape().rank() - 1;
  const auto rest = [&](const Tensor& x) {
    return Slice(x, axis, dims, std::numeric_limits<int64_t>::max());
  };
  TurnedParts parts;
  const Tensor q_turns = SliceRange(q, axis, 0, dims);
  parts.q_passes = rest(q);
  const Tensor k_turns = SliceRange(k, axis, 0, dims);
  parts.k_passes = rest(k);
  const auto turn = [&](const Tensor& x) {
    const Tensor straight = Mul(x, cosines);
    return Add(straight, Mul(RotateHalf(x), sines));
  };
  parts.q = turn(q_turns);
  parts.k = turn(k_turns);
  return parts;
}

}  // namespace

std::pair<Tensor, Tensor> ApplyJoinedPartialRotary(const Tensor& q,
                                                   const Tensor& k,
                                                   Tensor cosines,
                                                   Tensor sines) {
  const TurnedParts parts =
      TurnParts(q, k, std::move(cosines), std::move(sines));
  const Tensor q_out = Cat2(parts.q, parts.q_passes, -1);
  return {q_out, Cat2(parts.k, parts.k_passes, -1)};
}

std::pair<Tensor, Tensor> ApplyRenamedPartialRotary(const Tensor& q,
                                                    const Tensor& k,
                                                    Tensor cosines,
                                                    Tensor sines) {
  TurnedParts parts = TurnParts(q, k, std::move(cosines), std::move(sines));
  parts.q = Cat2(parts.q, parts.q_passes, -1);
  parts.k = Cat2(parts.k, parts.k_passes, -1);
  return {parts.q, parts.k};
}

std::pair<Tensor, Tensor> ApplyWideRotary(const Tensor& q, const Tensor& k,
                                          Tensor cosines, Tensor sines) {
  const auto turned = ApplyRotary(q, k, std::move(cosines), std::move(sines));
  const Tensor q_out = To(turned.first, q.dtype());
  return {q_out, To(turned.second, k.dtype())};
}

std::pair<Tensor, Tensor> ApplyHalfRotary(const Tensor& q, const Tensor& k,
                                          Tensor cosines, Tensor sines) {
  cosines = Unsqueeze(cosines, 1);
  sines = Unsqueeze(sines, 1);
  const auto turn = [&](const Tensor& x) {
    const std::vector<Tensor> halves = Split(x, (x.size(-1) + 1) / 2, -1);
    const auto less = [&](const Tensor& a, const Tensor& b) {
      const Tensor straight = Mul(a, cosines);
      return Sub(straight, Mul(b, sines));
    };
    const auto more = [&](const Tensor& a, const Tensor& b) {
      const Tensor straight = Mul(a, cosines);
      return Add(straight, Mul(b, sines));
    };
    const Tensor first = less(halves[0], halves[1]);
    const Tensor second = more(halves[1], halves[0]);
    return Cat2(first, second, -1);
  };
  const Tensor q_turned = turn(q);
  return {q_turned, turn(k)};
}

}  // namespace foretell
