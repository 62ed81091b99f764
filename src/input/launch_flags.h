// An engine's arguments, read as one version of the engine reads them.
//
// In: words with their places, and the version's table of flags. Out: settings
// with values of the right kind, the model, and a fault for everything that the
// engine would refuse or warn of: unknown, removed and shortened flags, missing
// or wrong values, JSON that does not parse, choices. It follows Python's
// argparse as vLLM extends it (vllm/utils/argparse_utils.py, 0.33.0): flags in
// underscores, unique beginnings of a flag, -O2, dotted keys of a JSON flag,
// sizes such as 32k. Never throws for what the words say.
//
// Does not model: a --config file (input/launch_config puts its words in), and
// types of the fields inside a JSON flag beyond their names.
#ifndef FORETELL_INPUT_LAUNCH_FLAGS_H_
#define FORETELL_INPUT_LAUNCH_FLAGS_H_

#include <optional>
#include <string_view>

#include "spec/engine_facts.h"
#include "spec/serving.h"

namespace foretell {

Launch ReadLaunch(const EngineFacts& facts, const LaunchLine& line);

// "32k" is 32000, "32K" 32768, "1.5m" 1500000; nothing where it is no size.
std::optional<int64_t> ReadHumanSize(std::string_view text);

}  // namespace foretell

#endif  // FORETELL_INPUT_LAUNCH_FLAGS_H_
