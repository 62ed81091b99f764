#include "models/layers/shared_expert_mlp.h"

#include "graph/ops/activations.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/views.h"

namespace foretell {

SharedExpertMlp::SharedExpertMlp(const Module& at, const ExpertsConfig& config,
                                 int64_t shared)
    : module(at),
      gate(at.Child("gate", RegionKind::kRouter), config),
      experts(at.Child("experts", RegionKind::kExperts), config),
      shared_expert(at.Child("shared_expert", RegionKind::kMlp), config.hidden,
                    shared, false, config.activation),
      shared_expert_gate(at.Child("shared_expert_gate", RegionKind::kLinear),
                         config.hidden, 1, false) {}

Tensor SharedExpertMlp::Forward(const Tensor& hidden,
                                const ExpertsCall& call) const {
  const Scope scope = module.Enter();
  const Tensor rows = View(hidden, {-1, gate.config.hidden});
  Tensor shared = shared_expert.Forward(rows);
  const Routing routing = gate.Forward(rows);
  if (gate.config.keeps_logits) call.router_logits->push_back(routing.logits);
  Tensor out = experts.Forward(rows, routing, call.experts);
  const auto weigh = [&] {
    return Mul(Sigmoid(shared_expert_gate.Forward(rows)), shared);
  };
  shared = weigh();
  out = Add(out, shared);
  return View(out, hidden.shape());
}

}  // namespace foretell
