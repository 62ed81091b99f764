// Which keys of a configuration the catalogue keeps: hyper-parameters.
//
// In: a whole configuration. Out: the same without the keys that
// spec/ignorable_keys.h lists, without tables of label names, in the same
// order. README.md beside this file states the rules.
#ifndef FORETELL_TOOLS_CATALOGUE_KEPT_KEYS_H_
#define FORETELL_TOOLS_CATALOGUE_KEPT_KEYS_H_

#include "spec/config_value.h"

namespace foretell {

ConfigValue KeptKeys(const ConfigValue& config);

}  // namespace foretell

#endif  // FORETELL_TOOLS_CATALOGUE_KEPT_KEYS_H_
