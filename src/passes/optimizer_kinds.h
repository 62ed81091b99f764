// The steps of each kind of optimizer, which passes/optimizer chooses from.
//
// In: the gradients in the order of the parameters, autograd off. Out: the
// states after the step, parameter by parameter. They are written as the
// source has them, so that names hold tensors for as long as there.
#ifndef FORETELL_PASSES_OPTIMIZER_KINDS_H_
#define FORETELL_PASSES_OPTIMIZER_KINDS_H_

#include <span>

#include "passes/optimizer.h"

namespace foretell {

OptimizerResult StepSgd(Builder& builder,
                        std::span<const LeafGradient> gradients);
OptimizerResult StepAdamW(Builder& builder, const OptimizerOptions& options,
                          std::span<const LeafGradient> gradients);
OptimizerResult StepAdafactor(Builder& builder, const OptimizerOptions& options,
                              std::span<const LeafGradient> gradients);

}  // namespace foretell

#endif  // FORETELL_PASSES_OPTIMIZER_KINDS_H_
