#include "graph/ops/loss_gradient.h"

#include "graph/ops/loss.h"

namespace foretell {

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
