#include "graph/ops/views_gradient.h"

#include <cstdint>
#include <vector>

#include "graph/gradient.h"
#include "graph/ops/creation.h"
#include "graph/ops/indexing.h"
#include "graph/ops/views.h"

namespace foretell {

void GradientOfT(Gradient& g) { g.Give(0, T(g.grad())); }

void GradientOfView(Gradient& g) {
  g.Give(0, Reshape(g.grad(), g.InputFacts(0).shape));
}

void GradientOfTranspose(Gradient& g) {
  g.Give(0, Transpose(g.grad(), static_cast<int>(g.Integer(0)),
                      static_cast<int>(g.Integer(1))));
}

void GradientOfPermute(Gradient& g) {
  const Shape axes = g.Sizes(0);
  Shape inverse = axes;
  for (int to = 0; to < axes.rank(); ++to) {
    const int64_t from = axes[to] < 0 ? axes[to] + axes.rank() : axes[to];
    inverse.Set(static_cast<int>(from), to);
  }
  g.Give(0, Permute(g.grad(), inverse));
}

void GradientOfUnsqueeze(Gradient& g) {
  g.Give(0, SqueezeAxis(g.grad(), static_cast<int>(g.Integer(0))));
}

// Axes of extent 1 come back, one by one from the first: the one that was
// named, or all.
void GradientOfSqueeze(Gradient& g) {
  const Shape shape = g.InputFacts(0).shape;
  const bool named = g.Flag(0);
  const int64_t at = named ? g.Integer(1) : 0;
  Tensor gradient = g.grad();
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (shape[axis] != 1) continue;
    if (named && axis != at && axis != at + shape.rank()) continue;
    gradient = Unsqueeze(gradient, axis);
  }
  g.Give(0, gradient);
}

void GradientOfSlice(Gradient& g) {
  g.Give(0, SliceBackward(g.grad(), g.InputFacts(0).shape,
                          static_cast<int>(g.Integer(0)), g.Integer(1),
                          g.Integer(2), g.Integer(3)));
}

void GradientOfSelect(Gradient& g) {
  g.Give(0, SelectBackward(g.grad(), g.InputFacts(0).shape,
                           static_cast<int>(g.Integer(0)), g.Integer(1)));
}

// Parts that no gradient reached are zeros.
void GradientOfSplit(Gradient& g) {
  std::vector<Tensor> parts;
  for (size_t i = 0; i < g.output_count(); ++i) {
    const Value part = g.OutputFacts(i);
    parts.push_back(g.grad(i).empty()
                        ? Zeros(g.builder(), part.shape, part.dtype)
                        : g.grad(i));
  }
  g.Give(0, Cat(parts, static_cast<int>(g.Integer(1))));
}

void GradientOfUnbind(Gradient& g) {
  std::vector<Tensor> parts;
  for (size_t i = 0; i < g.output_count(); ++i) {
    const Value part = g.OutputFacts(i);
    parts.push_back(g.grad(i).empty()
                        ? Zeros(g.builder(), part.shape, part.dtype)
                        : g.grad(i));
  }
  g.Give(0, Stack(parts, static_cast<int>(g.Integer(0))));
}

void GradientOfSame(Gradient& g) { g.Give(0, g.grad()); }

}  // namespace foretell
