#include "graph/ops/loss_gradient.h"

#include "graph/ops/activations.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/in_place.h"
#include "graph/ops/loss.h"

namespace foretell {

// (sigmoid(x) - targets) by the gradient, over the count: the targets take
// none.
void GradientOfBinaryCrossEntropy(Gradient& g) {
  const Value facts = g.InputFacts(0);
  Tensor out = Sigmoid(g.input(0));
  out = Sub(out, g.input(1));
  out = Mul(out, g.grad());
  out = DivNumberInto(out,
                      static_cast<double>(facts.shape.Elements().value_or(1)));
  g.Give(0, std::move(out));
}

void GradientOfMseLoss(Gradient& g) {
  const Tensor& x = g.input(0);
  const Tensor& targets = g.input(1);
  if (g.Needs(0)) g.Give(0, MseLossBackward(g.grad(), x, targets));
  if (g.Needs(1)) g.Give(1, MseLossBackward(g.grad(), targets, x));
}

void GradientOfNllLoss(Gradient& g) {
  g.Give(0, NllLossBackward(g.grad(), g.input(0), g.input(1), g.output(1)));
}

}  // namespace foretell
