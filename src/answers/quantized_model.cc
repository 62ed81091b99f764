#include "answers/quantized_model.h"

#include "answers/gguf_facts.h"

namespace foretell {

std::optional<QuantizedWeights> QuantizeModel(const ModelConfig& config,
                                              const ReadModel& model,
                                              std::string_view name) {
  if (const GgufFileType* type = FindGgufFileType(name)) {
    GgufRecipe recipe;
    recipe.file_type = type;
    recipe.has_imatrix = type->needs_imatrix;
    recipe.base_type = "BF16";
    return QuantizeToGguf(model.parameters.tensors, GgufFactsOf(config, model),
                          recipe, VocabularyOf(config));
  }
  return std::nullopt;
}

std::vector<std::string_view> QuantizationNames() {
  return GgufFileTypeNames();
}

}  // namespace foretell
