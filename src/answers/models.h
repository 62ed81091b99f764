// `foretell models`: the catalogue's entries that match some words, each with
// its parameters where a family can derive them.
//
// In: entries with their configurations, in the order to show. Out: a row each,
// and how many were derived.
#ifndef FORETELL_ANSWERS_MODELS_H_
#define FORETELL_ANSWERS_MODELS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "answers/proof.h"
#include "base/figure.h"
#include "spec/catalogue.h"
#include "spec/model_config.h"

namespace foretell {

struct ModelsRequest {
  std::vector<std::string> words;
  std::vector<CatalogueEntry> entries;  // those that match
  std::vector<ModelConfig> configs;     // one per entry
};

struct ModelsRow {
  CatalogueEntry entry;
  // Nothing where no family has the class.
  std::optional<Parameters> parameters;
  ProofKind proof = ProofKind::kDescription;  // of the parameters
  bool is_text = false;
};

struct ModelsAnswer {
  std::vector<ModelsRow> rows;
  int64_t derived = 0;  // rows whose parameters are exact
  // Models for text alone; of these, derived; of these, not by description.
  int64_t text = 0;
  int64_t text_derived = 0;
  int64_t text_proven = 0;
};

ModelsAnswer AnswerModels(const ModelsRequest& request);

}  // namespace foretell

#endif  // FORETELL_ANSWERS_MODELS_H_
