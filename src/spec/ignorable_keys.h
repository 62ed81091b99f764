// The named list of configuration keys that cannot matter to what a model is.
//
// Generation defaults, token ids that no shape depends on, names, versions,
// label texts, training-run leftovers. A key outside this list that no family
// read is listed in the answer. Each group says why it cannot matter.
#ifndef FORETELL_SPEC_IGNORABLE_KEYS_H_
#define FORETELL_SPEC_IGNORABLE_KEYS_H_

#include <span>
#include <string_view>

namespace foretell {

struct IgnorableKeys {
  std::string_view why;
  std::span<const std::string_view> keys;
};

std::span<const IgnorableKeys> AllIgnorableKeys();

// `path` is dotted; its last part decides, wherever it is nested.
bool IsIgnorableKey(std::string_view path);

}  // namespace foretell

#endif  // FORETELL_SPEC_IGNORABLE_KEYS_H_
