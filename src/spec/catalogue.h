// A line of the embedded catalogue, as lists and searches show it.
//
// Made by input/catalogue from data/models.jsonl, shown by `foretell models`.
// Texts may be empty where the record does not say.
#ifndef FORETELL_SPEC_CATALOGUE_H_
#define FORETELL_SPEC_CATALOGUE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace foretell {

struct CatalogueEntry {
  std::string id;
  std::string class_name;  // the configuration's first architecture
  std::string model_type;
  std::string kind;  // how the configuration was obtained
  std::string source;
  std::string date;
  std::optional<int64_t> published_parameters;
  std::vector<std::string> aliases;  // ids of the same architecture
};

}  // namespace foretell

#endif  // FORETELL_SPEC_CATALOGUE_H_
