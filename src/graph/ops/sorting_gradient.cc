#include "graph/ops/sorting_gradient.h"

#include "graph/gradient.h"
#include "graph/ops/creation.h"
#include "graph/ops/indexing.h"

namespace foretell {

void GradientOfChosen(Gradient& g) {
  const Tensor zeros = NewZeros(g.grad(), g.InputFacts(0).shape);
  g.Give(0, Scatter(zeros, -1, g.output(1), g.grad()));
}

}  // namespace foretell
