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
};

struct ModelsAnswer {
  std::vector<ModelsRow> rows;
  int64_t derived = 0;  // rows whose parameters are exact
};

ModelsAnswer AnswerModels(const ModelsRequest& request);

}  // namespace foretell

#endif  // FORETELL_ANSWERS_MODELS_H_
