// The backward of losses.
//
// Source of the rules: torch 2.15, torchgen/packaged/autograd/
// derivatives.yaml (mse_loss, nll_loss_forward).
#ifndef FORETELL_GRAPH_OPS_LOSS_GRADIENT_H_
#define FORETELL_GRAPH_OPS_LOSS_GRADIENT_H_

#include "graph/gradient.h"

namespace foretell {

void GradientOfBinaryCrossEntropy(Gradient& g);
void GradientOfMseLoss(Gradient& g);
void GradientOfNllLoss(Gradient& g);

}  // namespace foretell

#endif  // FORETELL_GRAPH_OPS_LOSS_GRADIENT_H_
