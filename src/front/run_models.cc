#include "front/run_models.h"

#include "answers/models.h"
#include "base/check.h"
#include "input/catalogue.h"
#include "report/present_models.h"

namespace foretell {

Outcome RunModels(const Invocation& invocation) {
  ModelsRequest request;
  request.words = invocation.Arguments("WORD");
  request.entries = SearchCatalogue(request.words);
  for (const CatalogueEntry& entry : request.entries) {
    auto config = FromCatalogue(entry.id);
    FORETELL_CHECK(config.has_value(), "a listed id without a row");
    request.configs.push_back(std::move(*config));
  }
  return {.document = PresentModels(AnswerModels(request))};
}

Outcome RunCompleteIds(const Invocation& invocation) {
  std::string text;
  const auto prefix = invocation.Arguments("PREFIX");
  for (const std::string& id :
       CompleteIds(prefix.empty() ? "" : prefix.front())) {
    text += id + "\n";
  }
  return {.text = text};
}

}  // namespace foretell
