#include "graph/ops/in_place_gradient.h"

#include "graph/gradient.h"
#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/indexing.h"
#include "graph/ops/views.h"

namespace foretell {

void GradientOfCopyInto(Gradient& g) {
  if (g.Needs(0)) g.Give(0, ZerosLike(g.grad()));
  if (g.Needs(1)) g.Give(1, To(g.grad(), g.InputFacts(1).dtype));
}

void GradientOfIndexAdd(Gradient& g) {
  if (g.Needs(0)) g.Give(0, g.grad());
  if (!g.Needs(2)) return;
  const Tensor rows = IndexSelect(g.grad(), g.input(1));
  g.Give(2, Expand(rows, g.InputFacts(2).shape));
}

void GradientOfScatterInto(Gradient& g) {
  const auto axis = static_cast<int>(g.Integer(0));
  if (g.Needs(0)) g.Give(0, ScatterFill(g.grad(), axis, g.input(1), 0));
  if (g.Needs(2)) g.Give(2, Gather(g.grad(), axis, g.input(1)));
}

void GradientOfOverwritten(Gradient& g) { g.Give(0, ZerosLike(g.grad())); }

}  // namespace foretell
