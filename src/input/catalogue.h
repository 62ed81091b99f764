// The models that Foretell knows by name: the embedded data/models.jsonl.
//
// In: an id ("Qwen/Qwen3-8B"), words, or the beginning of an id. Out: entries,
// or the configuration. The file's rows are sorted by id, so that one id is
// found by halving over the bytes and only its row is parsed; an alias costs a
// scan of the rows' heads (tens of microseconds to half a millisecond).
//
// Does not model: what the hub holds today. A row says where its values were
// read and when.
#ifndef FORETELL_INPUT_CATALOGUE_H_
#define FORETELL_INPUT_CATALOGUE_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spec/catalogue.h"
#include "spec/model_config.h"

namespace foretell {

// Every entry, by id (letters' case aside).
std::vector<CatalogueEntry> ListCatalogue();

// Entries in whose id, aliases, class or model_type every word occurs, case
// aside: first those whose id has all words, then those whose aliases have,
// then the rest; each group by id. No words: every entry.
std::vector<CatalogueEntry> SearchCatalogue(
    const std::vector<std::string>& words);

// By id as written, else by id in other letters' case, else by alias.
std::optional<ModelConfig> FromCatalogue(std::string_view id);

// Ids and aliases that begin with `prefix`, case aside, sorted.
std::vector<std::string> CompleteIds(std::string_view prefix);

// Ids and aliases nearest to one that is unknown: by the words they share,
// then by edits.
std::vector<std::string> NearestIds(std::string_view id, size_t limit = 3);

}  // namespace foretell

#endif  // FORETELL_INPUT_CATALOGUE_H_
