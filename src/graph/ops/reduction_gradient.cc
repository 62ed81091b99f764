#include "graph/ops/reduction_gradient.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "graph/ops/elementwise.h"
#include "graph/ops/indexing.h"
#include "graph/ops/reduction.h"
#include "graph/ops/views.h"

namespace foretell {
namespace {

// sum_backward: the axes that went come back, and all are widened.
Tensor Widened(const Gradient& g) {
  const Shape shape = g.InputFacts(0).shape;
  Tensor grad = g.grad();
  const bool keeps_axes = g.Flag(1);
  if (!keeps_axes) {
    // One axis as it was named; several from the front (unsqueeze_multiple).
    const Shape axes = g.Sizes(0);
    if (axes.rank() == 1) {
      grad = Unsqueeze(grad, static_cast<int>(axes[0]));
    } else {
      std::array<bool, Shape::kMaxDims> goes = {};
      for (const int64_t axis : axes.dims()) {
        goes[static_cast<size_t>(axis < 0 ? axis + shape.rank() : axis)] = true;
      }
      for (int axis = 0; axis < shape.rank(); ++axis) {
        if (goes[static_cast<size_t>(axis)]) grad = Unsqueeze(grad, axis);
      }
    }
  }
  return Expand(grad, shape);
}

}  // namespace

void GradientOfSum(Gradient& g) { g.Give(0, Widened(g)); }

void GradientOfMean(Gradient& g) {
  const Shape shape = g.InputFacts(0).shape;
  int64_t count = 1;
  const Shape axes = g.Sizes(0);
  for (const int64_t axis : axes.dims()) {
    count *= shape[static_cast<int>(axis)];
  }
  const Tensor widened = Widened(g);
  g.Give(0, DivNumber(widened, static_cast<double>(count)));
}

void GradientOfSumAll(Gradient& g) {
  g.Give(0, Expand(g.grad(), g.InputFacts(0).shape));
}

void GradientOfSoftmax(Gradient& g) {
  const auto axis = static_cast<int>(g.Integer(0));
  g.Give(0,
         SoftmaxBackward(g.grad(), g.output(0), axis, g.InputFacts(0).dtype));
}

void GradientOfLogSoftmax(Gradient& g) {
  const auto axis = static_cast<int>(g.Integer(0));
  g.Give(0, LogSoftmaxBackward(g.grad(), g.output(0), axis,
                               g.InputFacts(0).dtype));
}

// The running sum from the other end.
void GradientOfCumsum(Gradient& g) {
  const auto axis = static_cast<int>(g.Integer(0));
  const Tensor grad = To(g.grad(), g.InputFacts(0).dtype);
  const auto elements = grad.shape().Elements();
  if ((elements && *elements <= 1) || grad.size(axis) == 1) {
    g.Give(0, grad);
    return;
  }
  const Tensor reversed = Flip(grad, axis);
  const Tensor sums = Cumsum(reversed, axis);
  g.Give(0, Flip(sums, axis));
}

}  // namespace foretell
