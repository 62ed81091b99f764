#include "answers/models.h"

#include <variant>

#include "answers/read_model.h"
#include "base/check.h"

namespace foretell {
namespace {

std::optional<Parameters> CountOf(const ModelConfig& config) {
  auto read = ReadModelOf(config, {});
  if (const auto* model = std::get_if<ReadModel>(&read)) {
    return model->parameters.total;
  }
  return std::nullopt;
}

}  // namespace

ModelsAnswer AnswerModels(const ModelsRequest& request) {
  FORETELL_CHECK(request.entries.size() == request.configs.size(),
                 "an entry without its configuration");
  ModelsAnswer out;
  for (size_t i = 0; i < request.entries.size(); ++i) {
    ModelsRow row;
    row.entry = request.entries[i];
    row.parameters = CountOf(request.configs[i]);
    if (row.parameters && row.parameters->is_exact()) ++out.derived;
    out.rows.push_back(std::move(row));
  }
  return out;
}

}  // namespace foretell
