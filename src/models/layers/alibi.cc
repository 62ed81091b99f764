#include "models/layers/alibi.h"

#include <algorithm>
#include <cmath>

#include "graph/ops/powers.h"
#include "models/layers/functional.h"

namespace foretell {
namespace {

// The base of the powers for so many heads, a power of two.
double BaseOf(double heads) {
  return std::pow(2, -std::pow(2, -(std::log2(heads) - 3)));
}

}  // namespace

std::vector<Tensor> AlibiSlopes(Builder& builder, int64_t heads) {
  int64_t even = 1;  // the largest power of two that is no larger
  while (2 * even <= heads) even *= 2;
  const auto count = static_cast<double>(even);
  const Tensor base = Full(builder, {}, BaseOf(count), DType::kFloat32);
  const Tensor powers = WholesFrom(builder, 1, 1 + even, DType::kInt32);
  Tensor slopes = Pow(base, powers);
  if (even == heads) return {slopes, base, powers};
  const Tensor extra_base =
      Full(builder, {}, BaseOf(2 * count), DType::kFloat32);
  const int64_t rest = std::min(even, heads - even);
  const Tensor extra_powers =
      WholesBy(builder, 1, 1 + 2 * rest, 2, DType::kInt32);
  slopes = Cat2(slopes, Pow(extra_base, extra_powers), 0);
  return {slopes, base, powers, extra_base, extra_powers};
}

}  // namespace foretell
