#include "graph/ops/sorting_gradient.h"

#include "graph/gradient.h"
#include "graph/ops/creation.h"
#include "graph/ops/indexing.h"
#include "graph/ops/views.h"

namespace foretell {

void GradientOfChosen(Gradient& g) {
  const Tensor zeros = NewZeros(g.grad(), g.InputFacts(0).shape);
  // An axis that went comes back.
  const bool went = zeros.shape().rank() > g.grad().shape().rank();
  const Tensor grad = went ? Unsqueeze(g.grad(), -1) : g.grad();
  const Tensor places = went ? Unsqueeze(g.output(1), -1) : g.output(1);
  g.Give(0, Scatter(zeros, -1, places, grad));
}

}  // namespace foretell
