// A configuration's `quantization_config` as a plan: which modules are packed,
// and how, as the library that wrote it reads it.
//
// In: the object and what the model is. Out: the plan, or why there is none
// (a method that is not known, a key that changes the packing). Every default
// that was taken is among the plan's assumptions.
// Sources: transformers 5.23, utils/quantization_config.py and quantizers/;
// compressed-tensors 0.20, quantization/quant_config.py; ModelOpt 0.33,
// torch/export/convert_hf_config.py; gptqmodel 5, quantization/config.py;
// auto-round 0.16, inference/convert_model.py.
#ifndef FORETELL_ANSWERS_QUANTIZATION_CONFIG_H_
#define FORETELL_ANSWERS_QUANTIZATION_CONFIG_H_

#include <string>
#include <variant>

#include "analysis/quantization/weight_plan.h"
#include "base/dtype.h"
#include "spec/model_config.h"

namespace foretell {

// Why a plan cannot be made: "how quanto packs".
struct NoPlan {
  std::string missing;
};

std::variant<WeightPlan, NoPlan> PlanOfConfig(const ConfigValue& quantization,
                                              const std::string& class_name,
                                              DType dtype);

// The configuration's own, also where a text part or another key holds it;
// null where there is none.
const ConfigValue* QuantizationOf(const ConfigValue& root);

}  // namespace foretell

#endif  // FORETELL_ANSWERS_QUANTIZATION_CONFIG_H_
