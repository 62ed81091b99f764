// Long lists of tensor and module names, folded where their numbers count up.
//
// A quantized checkpoint's configuration may name each of its 22,000 modules.
// "layers.3.experts.0.w1", "layers.3.experts.0.w2", … become
// "layers.3.experts.{0-127}.w{1-3}": of several ranges the last runs fastest,
// so that order is kept and unfolding gives back the very same value.
//   array of strings   {"#fold": ["layers.{0-3}.mlp", …]}
//   object             {"#fold": [["layers.{0-3}.mlp", VALUE], …]}
// Only long lists that shrink at least to half are folded, and none that holds
// a brace. A value that has a key "#fold" of its own is left as it is and would
// not come back: `CanFold` tells.
#ifndef FORETELL_INPUT_NAME_FOLD_H_
#define FORETELL_INPUT_NAME_FOLD_H_

#include <cstdint>
#include <optional>
#include <string>

#include "spec/config_value.h"

namespace foretell {

// No object below `value` has a key "#fold".
bool CanFold(const ConfigValue& value);

// With every long list below `value` folded.
ConfigValue FoldNames(const ConfigValue& value);

// The most bytes that one value may unfold to, each name with its value: the
// known largest takes 6 MB.
inline constexpr int64_t kMostUnfoldedBytes = int64_t{16} << 20;

// What FoldNames was given; nothing where a fold is malformed or too large.
std::optional<ConfigValue> UnfoldNames(const ConfigValue& value);

}  // namespace foretell

#endif  // FORETELL_INPUT_NAME_FOLD_H_
