#include "models/layers/experts.h"

namespace foretell {

TopKRouter::TopKRouter(const Module& at, const ExpertsConfig& settings)
    : module(at),
      config(settings),
      weight(at.Parameter("weight", {config.experts, config.hidden})) {}

GroupedExperts::GroupedExperts(const Module& at, const ExpertsConfig& settings)
    : module(at),
      config(settings),
      gate_up_proj(at.Parameter("gate_up_proj",
                                {config.experts, 2 * config.intermediate,
                                 config.hidden})),
      down_proj(at.Parameter(
          "down_proj", {config.experts, config.hidden, config.intermediate})),
      act_fn(at.Child("act_fn"), config.activation) {
  for (const ParameterId parameter : {gate_up_proj, down_proj}) {
    at.builder().MarkExperts(parameter, config.experts, config.per_token);
  }
}

SparseMlp::SparseMlp(const Module& at, const ExpertsConfig& settings)
    : module(at),
      config(settings),
      gate(at.Child("gate", RegionKind::kRouter), config),
      experts(at.Child("experts", RegionKind::kExperts), config) {}

Tensor SparseMlp::Forward(const Tensor& hidden) const {
  const Scope scope = module.Enter();
  return hidden;
}

}  // namespace foretell
