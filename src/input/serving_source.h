// What questions about serving ask for, from the embedded data and, where one
// is given, a folder of configurations.
//
// In: nothing (or an empty name), or a folder of `ORG--NAME.json` files. Out: a
// ServingSource. Facts of a version and models are read once and kept. A name
// that is unknown gives nothing; a file that cannot be read throws InputErrors.
#ifndef FORETELL_INPUT_SERVING_SOURCE_H_
#define FORETELL_INPUT_SERVING_SOURCE_H_

#include <memory>
#include <optional>
#include <string>

#include "spec/serving_source.h"

namespace foretell {

std::unique_ptr<ServingSource> MakeServingSource(
    const std::optional<std::string>& configs_dir = std::nullopt);

}  // namespace foretell

#endif  // FORETELL_INPUT_SERVING_SOURCE_H_
