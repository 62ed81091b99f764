// opt.step() and opt.zero_grad(): what an optimizer executes on a card.
//
// In: a builder whose backward has been written, and the gradients that the
// parameters hold, in the order in which the optimizer was given the
// parameters; a parameter without a gradient is left out, as it is there. The
// caller has started the phase. Written into the graph: the operations of the
// step, and when each temporary tensor dies; then the gradients go, since
// zero_grad(set_to_none=True) lets them. Out: the states, which the caller
// holds for as long as the step is looked at.
//
// In a first step the states are made, as torch makes them lazily; in a later
// one they are `Builder::State`. Numbers that depend on the count of steps are
// those of the second.
//
//   sgd           torch.optim.SGD(foreach=False): no momentum, no states
//   adamw_fused   torch.optim.AdamW(fused=True)
//   adamw_foreach torch.optim.AdamW(foreach=True), capturable=False
//   adamw_loop    torch.optim.AdamW(foreach=False)
//   adafactor     transformers.optimization.Adafactor(scale_parameter=False,
//                 relative_step=False)
// all with lr=1e-3 and their defaults. States have the parameter's dtype, with
// Adafactor float32 for half precision. AdamW counts its steps in a float32
// scalar per parameter: on the card with adamw_fused, on the host else.
// Source: torch 2.15, torch/optim/{sgd,adam,adamw,optimizer}.py; transformers
// 5.23, src/transformers/optimization.py.
//
// Not modelled: parameter groups, gradient scalers, sparse gradients.
#ifndef FORETELL_PASSES_OPTIMIZER_H_
#define FORETELL_PASSES_OPTIMIZER_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "graph/builder.h"
#include "passes/backward.h"

namespace foretell {

enum class OptimizerKind : uint8_t {
  kNone,  // no step, and nobody lets the gradients go
  kSgd,
  kAdamwFused,
  kAdamwForeach,
  kAdamwLoop,
  kAdafactor,
};

std::string_view NameOf(OptimizerKind kind);  // "adamw_fused"
std::optional<OptimizerKind> ParseOptimizerKind(std::string_view name);

struct OptimizerOptions {
  OptimizerKind kind = OptimizerKind::kAdamwFused;
  bool first_step = false;
  // The caller's loop went through the states after the step before, and its
  // name still holds the last one: tools/pytorch/record.py does so.
  bool caller_holds_last = false;
};

// One tensor that an optimizer keeps for a parameter.
struct OptimizerState {
  ValueId leaf;           // the parameter
  std::string_view name;  // "exp_avg", as torch's state_dict calls it
  Tensor tensor;
  bool on_host = false;
};

struct OptimizerResult {
  std::vector<OptimizerState> states;
  Tensor held_by_caller;  // an earlier state that only the caller's name holds
};

OptimizerResult Optimize(Builder& builder, const OptimizerOptions& options,
                         std::vector<LeafGradient>& gradients);

}  // namespace foretell

#endif  // FORETELL_PASSES_OPTIMIZER_H_
