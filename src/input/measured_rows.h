// A file of measured records, with the configuration of each row's model.
//
// In: a file with one JSON object a line, and which of a row's fields names
// its model and its card ("id", "model", "gpu"; empty: none does). The list of
// aliases maps such a name to a file of the folder of configurations and says
// how they belong together; a name that it lacks is tried as an id
// ("Qwen/Qwen3-8B" is Qwen--Qwen3-8B.json, then the catalogue's). A row's
// `component` chooses another file of the same folder of a pipeline; one of
// diffusers' gets the dtype that the pipeline's first text encoder states. Out:
// the rows in order; blank lines are passed over.
//
// Where no list is given: ../shared/truth/aliases.json if it exists, else
// `aliases.json` beside the file, else none.
//
// Throws InputErrors: of at most twenty lines that are no object, a file or
// list that cannot be read, and a given folder of configurations that is none.
#ifndef FORETELL_INPUT_MEASURED_ROWS_H_
#define FORETELL_INPUT_MEASURED_ROWS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "spec/measured_row.h"

namespace foretell {

// The largest file that is read, and the most rows: the known ones have 4 MB
// and 2,400 rows.
inline constexpr int64_t kMeasuredFileBytes = int64_t{128} << 20;
inline constexpr size_t kMostMeasuredRows = 200'000;

struct MeasuredRowsRequest {
  std::string path;
  std::string model_field;
  std::string card_field = {};  // which field names its card
  std::optional<std::string> configs_dir = std::nullopt;
  std::optional<std::string> aliases_file = std::nullopt;
};

MeasuredRows LoadMeasuredRows(const MeasuredRowsRequest& request);

// One entry of the list of aliases.
struct ConfigAlias {
  std::string label;  // a file of the folder without ".json"; empty: none
  std::string how;    // "same", "same-architecture", "unknown", …
};

// {"NAME": {"config": "FILE.json" or null, "how": …}}; throws InputErrors.
std::map<std::string, ConfigAlias> ParseConfigAliases(
    const std::string& text, const std::string& source);

}  // namespace foretell

#endif  // FORETELL_INPUT_MEASURED_ROWS_H_
