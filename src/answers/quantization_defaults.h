// What a quantization's name alone means: the plan that its tool follows by
// default.
//
// In: "awq", "nf4", "fp8-block", … Out: the plan; nothing where no tool is
// known by that name. Every default is among the plan's assumptions, with the
// tool and its version.
#ifndef FORETELL_ANSWERS_QUANTIZATION_DEFAULTS_H_
#define FORETELL_ANSWERS_QUANTIZATION_DEFAULTS_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/quantization/weight_plan.h"
#include "base/dtype.h"

namespace foretell {

std::optional<WeightPlan> PlanByDefault(std::string_view name,
                                        const std::string& class_name,
                                        DType dtype);

std::vector<std::string_view> PlanNames();

}  // namespace foretell

#endif  // FORETELL_ANSWERS_QUANTIZATION_DEFAULTS_H_
