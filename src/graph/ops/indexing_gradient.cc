#include "graph/ops/indexing_gradient.h"

#include <utility>
#include <vector>

#include "graph/ops/creation.h"
#include "graph/ops/indexing.h"
#include "graph/ops/reduction.h"
#include "graph/ops/views.h"

namespace foretell {

void GradientOfEmbedding(Gradient& g) {
  g.Give(0, EmbeddingBackward(g.grad(), g.input(1), g.InputFacts(0).shape[0]));
}

void GradientOfGather(Gradient& g) {
  const Tensor zeros = NewZeros(g.grad(), g.InputFacts(0).shape);
  g.Give(0, ScatterAdd(zeros, static_cast<int>(g.Integer(0)), g.input(1),
                       g.grad()));
}

void GradientOfScatterFill(Gradient& g) {
  g.Give(0,
         ScatterFill(g.grad(), static_cast<int>(g.Integer(0)), g.input(1), 0));
}

void GradientOfIndex(Gradient& g) {
  const Tensor zeros = NewZeros(g.grad(), g.InputFacts(0).shape);
  std::vector<Tensor> indices;
  for (size_t i = 1; i < g.input_count(); ++i) indices.push_back(g.input(i));
  g.Give(0, IndexAdd(zeros, indices, static_cast<int>(g.Integer(0)), g.grad()));
}

// Each part's range of the gradient, also of parts that need none.
void GradientOfCat(Gradient& g) {
  const int rank = g.OutputFacts(0).shape.rank();
  const auto named = static_cast<int>(g.Integer(0));
  const int axis = named < 0 ? named + rank : named;
  int64_t start = 0;
  for (size_t i = 0; i < g.input_count(); ++i) {
    const Shape shape = g.InputFacts(i).shape;
    if (shape == Shape{0}) {
      g.Give(i, Zeros(g.builder(), shape, g.grad().dtype()));
      continue;
    }
    g.Give(i, Slice(g.grad(), axis, start, start + shape[axis]));
    start += shape[axis];
  }
}

// The part of each, also of parts that need none.
void GradientOfStack(Gradient& g) {
  for (size_t i = 0; i < g.input_count(); ++i) {
    g.Give(i, Select(g.grad(), static_cast<int>(g.Integer(0)),
                     static_cast<int64_t>(i)));
  }
}

// What padding added is cut off, and what it cut comes back as zeros.
void GradientOfPad(Gradient& g) {
  Shape pads = g.Sizes(0);
  for (int i = 0; i < pads.rank(); ++i) pads.Set(i, -pads[i]);
  g.Give(0, ConstantPad(g.grad(), pads, 0));
}

void GradientOfFlip(Gradient& g) {
  g.Give(0, Flip(g.grad(), static_cast<int>(g.Sizes(0)[0])));
}

// New axes are summed one after the other; others that were repeated are seen
// as two, and summed over the first.
void GradientOfRepeat(Gradient& g) {
  const Shape shape = g.InputFacts(0).shape;
  const Shape times = g.Sizes(0);
  const int added = times.rank() - shape.rank();
  Tensor grad = g.grad();
  for (int axis = 0; axis < added; ++axis) grad = SumOver(grad, 0, false);
  Shape split;
  Shape repeated;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const int64_t count = times[axis + added];
    if (count != 1) {
      repeated.Append(split.rank());
      split.Append(count);
    }
    split.Append(shape[axis]);
  }
  if (repeated.rank() == 0) {
    g.Give(0, std::move(grad));
    return;
  }
  const Tensor parts = Reshape(grad, split);
  g.Give(0, SumAxes(parts, repeated, false));
}

}  // namespace foretell
