// How many text models of the embedded catalogue are answered for.
#include <gtest/gtest.h>

#include <variant>

#include "answers/models.h"
#include "answers/proof.h"
#include "answers/read_model.h"
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
  // 97 of 100 are answered, each of them by the library's class or a header.
  EXPECT_GE(answer.text_derived * 100, answer.text * 97) << missing;
  EXPECT_GE(answer.text_proven * 100, answer.text * 97) << described;
}

// The model that proves a class is of that class, and its own published total
// is what the layers give.
TEST(ModelsBar, WhatProvesAClassIsProvenItself) {
  ASSERT_FALSE(ProvenClasses().empty());
  for (const ProvenClass& one : ProvenClasses()) {
    SCOPED_TRACE(one.by);
    const auto config = FromCatalogue(one.by);
    ASSERT_TRUE(config);
    const auto read = ReadModelOf(*config, {});
    const auto* model = std::get_if<ReadModel>(&read);
    ASSERT_NE(model, nullptr);
    EXPECT_EQ(model->built.class_name, one.class_name);
    const Proof proof = ProofOf(*config, *model);
    EXPECT_EQ(proof.kind, ProofKind::kHeader);
    EXPECT_EQ(proof.words.rfind("exact by the published total", 0), 0U)
        << proof.words;
  }
}

}  // namespace
}  // namespace foretell
