// How many text models of the embedded catalogue are answered for.
#include <gtest/gtest.h>

#include "answers/models.h"
#include "input/catalogue.h"

namespace foretell {
namespace {

ModelsAnswer WholeCatalogue() {
  ModelsRequest request;
  request.entries = SearchCatalogue({});
  for (const CatalogueEntry& entry : request.entries) {
    request.configs.push_back(FromCatalogue(entry.id).value());
  }
  return AnswerModels(request);
}

TEST(ModelsBar, NearlyEveryTextModelIsDerived) {
  const ModelsAnswer answer = WholeCatalogue();
  ASSERT_GT(answer.text, 400);
  std::string missing;
  std::string described;
  for (const ModelsRow& row : answer.rows) {
    if (!row.is_text) continue;
    if (!row.parameters) {
      missing += " " + row.entry.id;
    } else if (row.proof == ProofKind::kDescription) {
      described += " " + row.entry.id;
    }
  }
  RecordProperty("missing", missing);
  RecordProperty("described", described);
  // 97 of 100 are answered, and 92 of 100 by the library's class or a header.
  EXPECT_GE(answer.text_derived * 100, answer.text * 97) << missing;
  EXPECT_GE(answer.text_proven * 100, answer.text * 92) << described;
}

}  // namespace
}  // namespace foretell
