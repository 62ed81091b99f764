// Losses: over classes, and of numbers.
//
// Source of the rules: torch 2.15, aten/src/ATen/native/LossNLL.cpp, Loss.cpp.
#ifndef FORETELL_GRAPH_OPS_LOSS_H_
#define FORETELL_GRAPH_OPS_LOSS_H_

#include <span>
#include <vector>

#include "graph/builder.h"
#include "graph/operation_row.h"

namespace foretell {

std::span<const OperationRow* const> LossOperations();

// x and targets of equal extents -> [].
Tensor MseLoss(Tensor x, Tensor targets);
// The cross entropy of logits x and probabilities, of equal extents -> [].
Tensor BinaryCrossEntropyWithLogits(Tensor x, Tensor targets);
// log_probabilities [n, classes], targets [n] -> [] ; the mean over targets
// other than `ignored`.
Tensor NllLoss(Tensor log_probabilities, Tensor targets, int64_t ignored);
// What their backward gives, of the extents of `x`.
Tensor MseLossBackward(Tensor grad, Tensor x, Tensor targets);
Tensor NllLossBackward(Tensor grad, Tensor log_probabilities, Tensor targets,
                       Tensor weight);

}  // namespace foretell

#endif  // FORETELL_GRAPH_OPS_LOSS_H_
