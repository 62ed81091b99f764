// Changes to a configuration, as the recorder writes and people type them.
//
// In: "num_hidden_layers=2,rope_parameters.rope_type=\"yarn\"". Items are
// divided by commas; a dot steps into an object; a value is JSON, so commas in
// its strings, arrays and objects do not divide. "-KEY" takes a key out. Empty
// text and "none" are no changes. (tools/pytorch/record.py, `changes`.)
// Out: what spec/recording.h's ApplyOverrides takes. A key is kept as written:
// that two names may mean one setting is the family's matter.
#ifndef FORETELL_INPUT_OVERRIDES_H_
#define FORETELL_INPUT_OVERRIDES_H_

#include <optional>
#include <string>
#include <vector>

#include "base/input_error.h"
#include "spec/recording.h"

namespace foretell {

// The changes, or why there are none: never both.
struct OverridesResult {
  std::vector<Override> overrides;
  std::optional<InputError> error;
};

// `source` is shown in places: "--over".
OverridesResult ReadOverrides(const std::string& text,
                              const std::string& source);

// The same, throwing InputErrors with a place in `text`.
std::vector<Override> ParseOverrides(const std::string& text,
                                     const std::string& source);

}  // namespace foretell

#endif  // FORETELL_INPUT_OVERRIDES_H_
