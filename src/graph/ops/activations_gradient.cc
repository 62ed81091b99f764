#include "graph/ops/activations_gradient.h"

#include <cmath>
#include <numbers>
#include <utility>

#include "graph/gradient.h"
#include "graph/ops/activations.h"
#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/in_place.h"

namespace foretell {

void GradientOfSilu(Gradient& g) {
  g.Give(0, SiluBackward(g.grad(), g.input(0)));
}
void GradientOfGelu(Gradient& g) {
  g.Give(0, GeluBackward(g.grad(), g.input(0)));
}
void GradientOfRelu(Gradient& g) {
  g.Give(0, ThresholdBackward(g.grad(), g.output(0)));
}
void GradientOfHardtanh(Gradient& g) {
  g.Give(0, HardtanhBackward(g.grad(), g.input(0)));
}
void GradientOfLeakyRelu(Gradient& g) {
  g.Give(0, LeakyReluBackward(g.grad(), g.input(0)));
}
void GradientOfHardSwish(Gradient& g) {
  g.Give(0, HardSwishBackward(g.grad(), g.input(0)));
}
void GradientOfMish(Gradient& g) {
  g.Give(0, MishBackward(g.grad(), g.input(0)));
}
void GradientOfSoftplus(Gradient& g) {
  g.Give(0, SoftplusBackward(g.grad(), g.input(0)));
}
void GradientOfTanh(Gradient& g) {
  g.Give(0, TanhBackward(g.grad(), g.output(0)));
}
void GradientOfSigmoid(Gradient& g) {
  g.Give(0, SigmoidBackward(g.grad(), g.output(0)));
}

void GradientOfErf(Gradient& g) {
  const Tensor square = PowScalar(g.input(0), 2);
  const Tensor negative = Neg(square);
  const Tensor bell = Exp(negative);
  const Tensor slope = MulNumber(bell, 2 * std::numbers::inv_sqrtpi);
  g.Give(0, Mul(slope, g.grad()));
}

void GradientOfSqrt(Gradient& g) {
  const Tensor twice = MulNumber(g.output(0), 2);
  g.Give(0, Div(g.grad(), twice));
}

void GradientOfClamp(Gradient& g) {
  const Tensor nothing = ScalarTensor(g.builder(), 0, g.grad().dtype());
  if (std::isinf(g.Real(0))) {  // from above only
    const Tensor within = LtScalar(g.input(0), g.Real(1));
    g.Give(0, Where(within, g.grad(), nothing));
    return;
  }
  if (std::isinf(g.Real(1))) {  // from below only
    const Tensor within = GtScalar(g.input(0), g.Real(0));
    g.Give(0, Where(within, g.grad(), nothing));
    return;
  }
  Tensor above = GtScalar(g.input(0), g.Real(0));
  const Tensor below = LtScalar(g.input(0), g.Real(1));
  const Tensor within = LogicalAndInto(std::move(above), below);
  g.Give(0, Where(within, g.grad(), nothing));
}

void GradientOfPrelu(Gradient& g) {
  std::vector<Tensor> both =
      PreluKernelBackward(g.grad(), g.input(0), g.input(1));
  if (g.Needs(0)) g.Give(0, std::move(both[0]));
  if (g.Needs(1)) g.Give(1, std::move(both[1]));
}

}  // namespace foretell
