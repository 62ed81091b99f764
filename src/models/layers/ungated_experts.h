// Experts without a gate: two fused tensors with an activation between them.
//
// Source: transformers 5.23, models/nemotron_h/modeling_nemotron_h.py
// (NemotronHExperts), integrations/moe.py (grouped_mm_experts_forward).
// Does not model: one expert after another ("eager").
#ifndef FORETELL_MODELS_LAYERS_UNGATED_EXPERTS_H_
#define FORETELL_MODELS_LAYERS_UNGATED_EXPERTS_H_

#include <string_view>

#include "models/layers/activation.h"
#include "models/layers/experts.h"
#include "models/layers/module.h"

namespace foretell {

// up_proj [experts, intermediate, hidden] and
// down_proj [experts, hidden, intermediate].
struct UngatedExperts {
  UngatedExperts(const Module& at, const ExpertsConfig& settings);
  // [tokens, hidden] -> the same
  Tensor Forward(const Tensor& hidden, const Routing& routing,
                 std::string_view experts) const;

  Module module;
  ExpertsConfig config;
  ParameterId up_proj;
  ParameterId down_proj;
  ActivationModule act_fn;
};

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_UNGATED_EXPERTS_H_
