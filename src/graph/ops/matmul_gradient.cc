#include "graph/ops/matmul_gradient.h"

#include <utility>

#include "graph/gradient.h"
#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/matmul.h"
#include "graph/ops/views.h"

namespace foretell {
namespace {

// The last two axes lie column by column.
bool IsByColumn(const Value& matrix) {
  return matrix.strides[-2] == 1 && matrix.strides[-1] == matrix.shape[-2];
}

// Of `a` in the product of `a` and `b`.
Tensor GradientOfLeft(const Tensor& grad, const Value& a, const Tensor& b) {
  if (IsByColumn(a)) return T(Mm(b, T(grad)));
  return Mm(grad, T(b));
}

Tensor GradientOfRight(const Tensor& grad, const Tensor& a, const Value& b) {
  if (IsByColumn(b)) return T(Mm(T(grad), a));
  return Mm(T(a), grad);
}

Tensor LastTransposed(const Tensor& x) { return Transpose(x, -2, -1); }

}  // namespace

void GradientOfMm(Gradient& g) {
  if (g.Needs(1)) {
    g.Give(1, GradientOfRight(g.grad(), g.input(0), g.InputFacts(1)));
  }
  if (g.Needs(0)) {
    g.Give(0, GradientOfLeft(g.grad(), g.InputFacts(0), g.input(1)));
  }
}

void GradientOfAddmm(Gradient& g) {
  if (g.Needs(1)) {
    g.Give(1, GradientOfLeft(g.grad(), g.InputFacts(1), g.input(2)));
  }
  if (g.Needs(2)) {
    g.Give(2, GradientOfRight(g.grad(), g.input(1), g.InputFacts(2)));
  }
  if (g.Needs(0)) g.Give(0, g.grad());
}

void GradientOfBmm(Gradient& g) {
  if (g.Needs(1)) g.Give(1, Bmm(Transpose(g.input(0), 1, 2), g.grad()));
  if (g.Needs(0)) g.Give(0, Bmm(g.grad(), Transpose(g.input(1), 1, 2)));
}

void GradientOfBaddbmm(Gradient& g) {
  const double alpha = g.Real(0);
  const auto scaled = [alpha](Tensor product) {
    return alpha == 1 ? product : MulNumber(std::move(product), alpha);
  };
  if (g.Needs(1)) {
    g.Give(1, scaled(Bmm(g.grad(), Transpose(g.input(2), 1, 2))));
  }
  if (g.Needs(2)) {
    g.Give(2, scaled(Bmm(Transpose(g.input(1), 1, 2), g.grad())));
  }
  if (g.Needs(0)) g.Give(0, g.grad());
}

void GradientOfGroupedMm(Gradient& g) {
  const Tensor& offsets = g.input(2);
  if (g.Needs(1)) {
    const Tensor& rows = g.input(0);
    g.Give(1, IsByColumn(g.InputFacts(1))
                  ? LastTransposed(
                        GroupedMm(LastTransposed(g.grad()), rows, offsets))
                  : GroupedMm(LastTransposed(rows), g.grad(), offsets));
  }
  if (g.Needs(0)) {
    const Tensor& factors = g.input(1);
    g.Give(0, IsByColumn(g.InputFacts(0))
                  ? LastTransposed(
                        GroupedMm(factors, LastTransposed(g.grad()), offsets))
                  : GroupedMm(g.grad(), LastTransposed(factors), offsets));
  }
}

// Both gradients are made, whichever is asked for.
void GradientOfGroupedFallback(Gradient& g) {
  auto [rows, factors] =
      GroupedFallbackBackward(g.input(0), g.input(1), g.Attached(2), g.grad());
  g.Give(1, std::move(factors));
  g.Give(0, std::move(rows));
}

// linalg_solve_triangular_backward
void GradientOfSolveTriangular(Gradient& g) {
  const bool upper = g.Flag(0);
  const Tensor turned = LastTransposed(g.input(0));
  const Tensor solved = SolveTriangular(turned, g.grad(), !upper);
  if (g.Needs(0)) {
    const auto multiply = [&] {
      const Tensor across = LastTransposed(g.output(0));
      const Shape shape = solved.shape();
      const Shape rows = {-1, shape[-2], shape[-1]};
      const Shape columns = {-1, shape[-1], shape[-2]};
      Shape square = shape;
      square.Set(-1, shape[-2]);
      const Tensor left = Reshape(Expand(solved, shape), rows);
      const Tensor right = Reshape(Expand(across, across.shape()), columns);
      return UnsafeView(Bmm(left, right), square);
    };
    const auto negate = [&] { return Neg(multiply()); };
    const Tensor whole = negate();
    g.Give(0, upper ? Triu(whole, 1) : Tril(whole, -1));
  }
  if (g.Needs(1)) g.Give(1, solved);
}

}  // namespace foretell
