#include "graph/ops/creation_gradient.h"

#include "graph/gradient.h"
#include "graph/ops/creation.h"

namespace foretell {

void GradientOfTril(Gradient& g) { g.Give(0, Tril(g.grad(), g.Integer(0))); }

}  // namespace foretell
