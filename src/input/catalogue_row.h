// One row of data/models.jsonl: what it holds, and how a line is read.
//
// The form, in this order of keys, is made by tools/catalogue:
//   id          "Qwen/Qwen3-8B"
//   class       the configuration's first architecture; "" where it has none
//   model_type  as the configuration has it; "" where it has none
//   kind        how the configuration was obtained: "config.json copy", …
//   source      "owner/repository path @commit"; "" where there is none
//   date        of that commit, "2026-08-22"; "" where there is none
//   limits      what is not certain about the row, in short; absent where
//               nothing is to be said
//   published   {"parameters": 8190735360, "where": "…"}; absent where none is
//   aliases     [{"id": "Qwen/Qwen3-8B-Base", "why": "…"}], may be empty
//   hyper       the configuration without what cannot matter
// Rows are sorted by id, letters' case aside. `hyper` comes last, so that the
// head can be read without it.
//
// Long lists of module names under `hyper` are folded (name_fold.h); the
// readers here unfold them.
#ifndef FORETELL_INPUT_CATALOGUE_ROW_H_
#define FORETELL_INPUT_CATALOGUE_ROW_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/input_error.h"
#include "spec/catalogue.h"
#include "spec/config_value.h"
#include "spec/model_config.h"

namespace foretell {

struct CatalogueAlias {
  std::string id;
  std::string why;
};

struct CatalogueRow {
  std::string id;
  std::string class_name;
  std::string model_type;
  std::string kind;
  std::string source;
  std::string date;
  std::string limits;
  std::optional<PublishedTotal> published;
  std::vector<CatalogueAlias> aliases;
  ConfigValue hyper;  // an object; null where only the head was read
};

// Throws InputErrors; `source` is shown in places.
CatalogueRow ParseCatalogueRow(const std::string& line,
                               const std::string& source);

// Without `hyper`.
CatalogueRow ParseCatalogueHead(const std::string& line,
                                const std::string& source);

// The row as a line of the file, without a line break: what the readers above
// read back equal.
std::string ToLine(const CatalogueRow& row);

CatalogueEntry EntryOf(const CatalogueRow& row);

// The order of rows: as lower case, equal ones as written.
bool CatalogueIdLess(std::string_view a, std::string_view b);

}  // namespace foretell

#endif  // FORETELL_INPUT_CATALOGUE_ROW_H_
