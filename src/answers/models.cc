#include "answers/models.h"

#include <variant>

#include "answers/read_model.h"
#include "base/check.h"

namespace foretell {
namespace {

// Fills in the row's total and proof where a family has the class.
void Derive(const ModelConfig& config, ModelsRow& row) {
  auto read = ReadModelOf(config, {});
  const auto* model = std::get_if<ReadModel>(&read);
  if (model == nullptr) return;
  row.parameters = model->parameters.total;
  row.proof = ProofOf(config, *model).kind;
}

}  // namespace

ModelsAnswer AnswerModels(const ModelsRequest& request) {
  FORETELL_CHECK(request.entries.size() == request.configs.size(),
                 "an entry without its configuration");
  ModelsAnswer out;
  for (size_t i = 0; i < request.entries.size(); ++i) {
    ModelsRow row;
    row.entry = request.entries[i];
    row.is_text = IsTextModel(request.configs[i]);
    Derive(request.configs[i], row);
    const bool is_exact = row.parameters && row.parameters->is_exact();
    if (is_exact) ++out.derived;
    if (row.is_text) {
      ++out.text;
      if (is_exact) ++out.text_derived;
      if (is_exact && row.proof != ProofKind::kDescription) ++out.text_proven;
    }
    out.rows.push_back(std::move(row));
  }
  return out;
}

}  // namespace foretell
