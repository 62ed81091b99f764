#include "answers/quantized_model.h"

#include <utility>
#include <variant>

#include "answers/gguf_facts.h"
#include "answers/quantization_defaults.h"

namespace foretell {

std::optional<QuantizedWeights> QuantizeModel(const ModelConfig& config,
                                              const ReadModel& model,
                                              std::string_view name) {
  const std::vector<TensorGroup>& tensors = model.parameters.tensors;
  if (const GgufFileType* type = FindGgufFileType(name)) {
    GgufRecipe recipe;
    recipe.file_type = type;
    recipe.has_imatrix = type->needs_imatrix;
    recipe.base_type = "BF16";
    return QuantizeToGguf(tensors, GgufFactsOf(config, model), recipe,
                          VocabularyOf(config));
  }
  if (const auto plan =
          PlanByDefault(name, model.built.class_name, model.built.dtype)) {
    return QuantizeByPlan(tensors, *plan);
  }
  return std::nullopt;
}

void PackExpertsInFour(WeightPlan& plan) {
  const auto experts =
      NamePattern::Parse("re:.*experts.*", PatternSyntax::kTargets);
  if (!experts) return;
  PackingRule rule;
  rule.targets.push_back(*experts);
  rule.packing.format = PackedFormat::kMxfp4;
  rule.packing.counts_words = true;
  plan.rules.insert(plan.rules.begin(), std::move(rule));
}

std::optional<std::variant<WeightPlan, NoPlan>> PlanAsConfigured(
    const ModelConfig& config, const ReadModel& model) {
  const ConfigValue* quantization = QuantizationOf(config.root);
  if (quantization == nullptr) return std::nullopt;
  auto out =
      PlanOfConfig(*quantization, model.built.class_name, model.built.dtype);
  auto* plan = std::get_if<WeightPlan>(&out);
  if (plan == nullptr) return out;
  // Stated within the text model's part, it concerns that part alone.
  const bool is_whole =
      config.root.Find("quantization_config") == quantization ||
      config.root.Find("compression_config") == quantization;
  if (!is_whole) plan->packs_towers = false;
  const ConfigValue* experts = config.root.Find("expert_dtype");
  if (experts != nullptr && experts->AsString() == "fp4") {
    PackExpertsInFour(*plan);
  }
  return out;
}

std::optional<QuantizedWeights> QuantizedAsConfigured(
    const ModelConfig& config, const ReadModel& model,
    const std::vector<TensorGroup>& surplus) {
  const auto plan = PlanAsConfigured(config, model);
  if (!plan) return std::nullopt;
  if (const auto* none = std::get_if<NoPlan>(&*plan)) {
    QuantizedWeights out;
    out.name = "quantization_config";
    out.tensors = out.file = out.memory = Bytes::Unknown(none->missing);
    out.stored = Count::Unknown(none->missing);
    return out;
  }
  std::vector<TensorGroup> tensors = model.parameters.tensors;
  tensors.insert(tensors.end(), surplus.begin(), surplus.end());
  return QuantizeByPlan(tensors, std::get<WeightPlan>(*plan));
}

bool IsQuantization(std::string_view name) {
  return FindGgufFileType(name) != nullptr ||
         PlanByDefault(name, "", DType::kBFloat16).has_value();
}

std::vector<std::string_view> QuantizationNames() {
  std::vector<std::string_view> out = PlanNames();
  for (const std::string_view name : GgufFileTypeNames()) out.push_back(name);
  return out;
}

}  // namespace foretell
