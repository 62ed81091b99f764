// A model's weights in a quantization that is named: "awq", "nf4", "Q4_K_M".
//
// In: the configuration, the model built of it and the name. Out: bytes in
// the file and in memory with what stays unquantized and what was assumed.
// One function for `model --quant`, the scores and the serving questions.
#ifndef FORETELL_ANSWERS_QUANTIZED_MODEL_H_
#define FORETELL_ANSWERS_QUANTIZED_MODEL_H_

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "analysis/quantization/quantized_weights.h"
#include "analysis/quantization/weight_plan.h"
#include "answers/quantization_config.h"
#include "answers/read_model.h"
#include "spec/model_config.h"

namespace foretell {

// Nothing where the name means no quantization that is known.
std::optional<QuantizedWeights> QuantizeModel(const ModelConfig& config,
                                              const ReadModel& model,
                                              std::string_view name);

// The plan that the configuration's own quantization_config states, with what
// stands beside it; why there is none where it cannot be read. Nothing where it
// has no quantization.
std::optional<std::variant<WeightPlan, NoPlan>> PlanAsConfigured(
    const ModelConfig& config, const ReadModel& model);

// By the configuration's own quantization_config, with what a checkpoint holds
// beyond the class; nothing where it has none, unknown where it cannot be read.
std::optional<QuantizedWeights> QuantizedAsConfigured(
    const ModelConfig& config, const ReadModel& model,
    const std::vector<TensorGroup>& surplus = {});

// Experts in MXFP4 before all other rules of the plan: DeepSeek V4's, whose
// files say so as expert_dtype beside the quantization of the rest.
void PackExpertsInFour(WeightPlan& plan);

bool IsQuantization(std::string_view name);

// Every name that is known, as it is offered.
std::vector<std::string_view> QuantizationNames();

}  // namespace foretell

#endif  // FORETELL_ANSWERS_QUANTIZED_MODEL_H_
