// The options that say which revision of a hub's repository is meant and
// whether the hub may be asked; and the model that a command is about.
//
// Every command with a TARGET takes `HubRows()` among its options and calls
// `LoadTarget`. Throws InputErrors. A slow answer of the hub is told on
// stderr.
#ifndef FORETELL_FRONT_HUB_OPTIONS_H_
#define FORETELL_FRONT_HUB_OPTIONS_H_

#include <string>
#include <string_view>
#include <vector>

#include "front/command_table.h"
#include "front/invocation.h"
#include "input/model_lookup.h"
#include "spec/model_config.h"

namespace foretell {

// --revision, --refresh, --offline.
std::vector<OptionRow> HubRows();

ModelLookup ReadModelLookup(const Invocation& invocation);

// "note: asking https://huggingface.co for …", on stderr.
void NoteOnStderr(const std::string& text);

// The model that the argument names.
ModelConfig LoadTarget(const Invocation& invocation,
                       std::string_view argument = "TARGET");

}  // namespace foretell

#endif  // FORETELL_FRONT_HUB_OPTIONS_H_
