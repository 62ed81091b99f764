// Names of linear layers that transformers 5 fused into parameters, and what
// adapters of those names mean there.
//
// Source: transformers 5.23, conversion_mapping.py
// (_MODEL_TO_CONVERSION_PATTERN); peft 0.21, utils/
// transformers_weight_conversion.py (_MOE_TARGET_MODULE_MAPPING).
#ifndef FORETELL_PASSES_FUSED_TARGETS_H_
#define FORETELL_PASSES_FUSED_TARGETS_H_

#include <optional>
#include <span>
#include <string_view>

namespace foretell {

struct FusedTarget {
  std::string_view old_name;   // "w1"
  std::string_view parameter;  // "gate_up_proj"; the end of its whole name
};

// Nothing for a type whose names mean what they say.
std::optional<std::span<const FusedTarget>> FusedTargetsOf(
    std::string_view model_type);

}  // namespace foretell

#endif  // FORETELL_PASSES_FUSED_TARGETS_H_
