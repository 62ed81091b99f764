// A row of the configurations' index: what it says of a file's origin.
//
// In: a line of INDEX.jsonl. Out: its facts, and `Limits`, a few words made
// from them on what is not certain. The index's own notes are free text and are
// only looked at for known words.
#ifndef FORETELL_TOOLS_CATALOGUE_INDEX_ROW_H_
#define FORETELL_TOOLS_CATALOGUE_INDEX_ROW_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "spec/model_config.h"

namespace foretell {

struct IndexRow {
  std::string id;
  std::string component;   // empty for a whole model
  std::string model_type;  // first word; of the file, or told by the indexer
  std::string file;        // below the folder of configurations
  std::string kind;
  std::string source;  // "owner/repository path @commit"; may be empty
  std::string date;
  std::optional<PublishedTotal> published;
  std::optional<int64_t> counted;  // by the library, where someone counted
  std::string notes;
};

// Throws InputErrors with line numbers.
std::vector<IndexRow> ParseIndex(const std::string& text,
                                 const std::string& source);

// "reconstructed; counts the published total exactly; keys without weight in
// the total are unchecked"; empty where nothing is to be said.
std::string Limits(const IndexRow& row);

}  // namespace foretell

#endif  // FORETELL_TOOLS_CATALOGUE_INDEX_ROW_H_
