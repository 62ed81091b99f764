#include "graph/ops/bounded_sqrt.h"

#include <limits>
#include <utility>
#include <vector>

#include "graph/gradient.h"
#include "graph/operation_row.h"
#include "graph/ops/activations.h"
#include "graph/ops/elementwise.h"
#include "graph/strides.h"

namespace foretell {
namespace {

std::string InferRoot(const OperationArguments& args,
                      std::vector<OperationOutput>& outputs) {
  const Value& x = args.input(0);
  const Value* const inputs[] = {&x};
  outputs.push_back(
      {x.shape, ElementwiseStrides(inputs, x.shape), x.dtype, -1});
  return "";
}

void GradientOfBoundedSqrt(Gradient& g) {
  constexpr double kSteepest = 1000;
  const auto clip = [&] {
    return Clamp(MulScalar(g.input(0), 4), 1 / (kSteepest * kSteepest),
                 std::numeric_limits<double>::infinity());
  };
  const Tensor clipped = clip();
  g.Give(0, Div(g.grad(), Sqrt(clipped)));
}

// No row of the table: the operation itself is sqrt, which stands there.
constexpr OperationRow kBoundedSqrt = {
    .name = "aten.sqrt.default",
    .doc = "The square root, with a bounded slope.",
    .infer = InferRoot,
    .saves = kSavesInput,
    .gradient = GradientOfBoundedSqrt};

}  // namespace

Tensor BoundedSqrt(Tensor x) {
  return x.builder().Emit(kBoundedSqrt, {std::move(x)});
}

}  // namespace foretell
