// Recordings together with the configurations that they name.
//
// In: a file of recordings, and optionally the folder of configurations. A
// label is a file there without ".json" ("Qwen--Qwen3-8B", or with its folder
// "fal--AuraFlow-v0.3/transformer"). Where no folder is given:
// ../shared/configs if it exists, else the nearest folder `configs` beside one
// of the file's parents, and then the catalogue, whose id is the label with "/"
// for "--". Out: one case per row, in order, each with its own copy of the
// configuration, changed as the row's `edit` says, or with the reason why there
// is none: the same text for every row that lacks it for that reason.
//
// Throws InputErrors where the file of recordings cannot be read, and where
// the given folder is no folder.
#ifndef FORETELL_INPUT_TRUTH_SET_H_
#define FORETELL_INPUT_TRUTH_SET_H_

#include <optional>
#include <string>

#include "spec/recording.h"
#include "spec/trace.h"

namespace foretell {

TruthSet LoadTruthSet(
    const std::string& path,
    const std::optional<std::string>& configs_dir = std::nullopt);

// The same of one recorded trace.
TraceCase LoadTraceCase(
    const std::string& path,
    const std::optional<std::string>& configs_dir = std::nullopt);

}  // namespace foretell

#endif  // FORETELL_INPUT_TRUTH_SET_H_
