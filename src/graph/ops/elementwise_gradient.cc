#include "graph/ops/elementwise_gradient.h"

#include "graph/gradient.h"
#include "graph/ops/complex.h"
#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/views.h"

namespace foretell {
namespace {

// Where both operands are equal each takes half; where this one was not the
// result, as `loses` says, nothing.
Tensor GradientOfChoice(const Gradient& g, const Tensor& loses) {
  const Tensor half = DivNumber(g.grad(), 2);
  const Tensor equal = Eq(g.input(0), g.input(1));
  const Tensor shared = Where(equal, half, g.grad());
  return MaskedFill(shared, loses, 0);
}

// Python's number beside a tensor is a tensor of its own there.
Tensor Nothing(const Gradient& g) {
  return ScalarTensor(g.builder(), 0, g.grad().dtype());
}

}  // namespace

void GradientOfAdd(Gradient& g) {
  for (size_t i = 0; i < g.input_count(); ++i) {
    if (g.Needs(i)) g.Give(i, g.grad());
  }
}

void GradientOfSub(Gradient& g) {
  if (g.input_count() == 2 && g.Needs(1)) g.Give(1, Neg(g.grad()));
  if (g.Needs(0)) g.Give(0, g.grad());
}

void GradientOfMul(Gradient& g) {
  if (g.input_count() == 1) {
    g.Give(0, MulScalar(g.grad(), g.Real(0)));
    return;
  }
  // By the conjugate of a complex number, which the product first makes real.
  const auto times = [&](const Tensor& other) {
    if (other.dtype() != DType::kComplex64) return Mul(g.grad(), other);
    return Mul(g.grad(), CloneContiguous(Conj(other)));
  };
  if (g.Needs(1)) g.Give(1, times(g.input(0)));
  if (g.Needs(0)) g.Give(0, times(g.input(1)));
}

void GradientOfMulNumber(Gradient& g) {
  g.Give(0, MulNumber(g.grad(), g.Real(0)));
}

void GradientOfDiv(Gradient& g) {
  if (g.input_count() == 1) {
    g.Give(0, DivScalar(g.grad(), g.Real(0)));
    return;
  }
  if (g.Needs(1)) {
    const Tensor quotient = Div(g.input(0), g.input(1));
    const Tensor slope = Div(quotient, g.input(1));
    const Tensor negative = Neg(g.grad());
    g.Give(1, Mul(negative, slope));
  }
  if (g.Needs(0)) g.Give(0, Div(g.grad(), g.input(1)));
}

void GradientOfDivNumber(Gradient& g) {
  g.Give(0, DivNumber(g.grad(), g.Real(0)));
}

void GradientOfNeg(Gradient& g) { g.Give(0, Neg(g.grad())); }

void GradientOfPow(Gradient& g) {
  const double exponent = g.Real(0);
  if (exponent == 0) {
    g.Give(0, ZerosLike(g.input(0)));
    return;
  }
  const Tensor power = PowScalar(g.input(0), exponent - 1);
  const Tensor slope = MulNumber(power, exponent);
  g.Give(0, Mul(g.grad(), slope));
}

void GradientOfRsqrt(Gradient& g) {
  const Tensor cube = PowScalar(g.output(0), 3);
  const Tensor half = MulNumber(g.grad(), -0.5);
  g.Give(0, Mul(half, cube));
}

void GradientOfCos(Gradient& g) {
  const Tensor sine = Sin(g.input(0));
  const Tensor slope = Neg(sine);
  g.Give(0, Mul(g.grad(), slope));
}

void GradientOfSin(Gradient& g) { g.Give(0, Mul(g.grad(), Cos(g.input(0)))); }

void GradientOfExp(Gradient& g) { g.Give(0, Mul(g.grad(), g.output(0))); }

void GradientOfExpm1(Gradient& g) {
  const Tensor slope = AddNumber(g.output(0), 1);
  g.Give(0, Mul(g.grad(), slope));
}

void GradientOfLog(Gradient& g) { g.Give(0, Div(g.grad(), g.input(0))); }

void GradientOfToCopy(Gradient& g) {
  g.Give(0, To(g.grad(), g.InputFacts(0).dtype));
}

void GradientOfMinimum(Gradient& g) {
  if (g.Needs(1)) {
    const Tensor loses = Lt(g.input(0), g.input(1));
    g.Give(1, GradientOfChoice(g, loses));
  }
  if (g.Needs(0)) {
    const Tensor loses = Gt(g.input(0), g.input(1));
    g.Give(0, GradientOfChoice(g, loses));
  }
}

// On an edge of the range half of it, outside nothing. Of the bounds none has
// had a gradient so far.
void GradientOfClampTensor(Gradient& g) {
  if (g.Needs(1) || g.Needs(2)) {
    g.builder().Fail("no backward is known for the bounds of aten.clamp");
    return;
  }
  const Tensor& x = g.input(0);
  const Tensor& least = g.input(1);
  const Tensor& most = g.input(2);
  const Tensor is_range = Lt(least, most);
  Tensor is_edge;
  {
    const Tensor is_least = Eq(x, least);
    const Tensor is_most = Eq(x, most);
    const Tensor either = LogicalOr(is_least, is_most);
    is_edge = LogicalAnd(either, is_range);
  }
  Tensor is_outside;
  {
    const Tensor is_below = Lt(x, least);
    const Tensor is_above = Gt(x, most);
    is_outside = LogicalOr(is_below, is_above);
  }
  const Tensor half = DivNumber(g.grad(), 2);
  const Tensor shared = Where(is_edge, half, g.grad());
  g.Give(0, MaskedFill(shared, is_outside, 0));
}

void GradientOfMaskedFill(Gradient& g) {
  g.Give(0, MaskedFill(g.grad(), g.input(1), 0));
}

void GradientOfWhere(Gradient& g) {
  if (g.Needs(2)) {
    const Tensor nothing = Nothing(g);
    g.Give(2, Where(g.input(0), nothing, g.grad()));
  }
  if (g.Needs(1)) {
    const Tensor nothing = Nothing(g);
    g.Give(1, Where(g.input(0), g.grad(), nothing));
  }
}

}  // namespace foretell
