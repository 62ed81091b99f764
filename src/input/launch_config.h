// The file that --config names: its keys as words of the command line.
//
// In: a YAML file's bytes. Out: words as vLLM makes them
// (vllm/utils/argparse_utils.py, load_config_file): `key: value` is --key
// value, true is --key, false nothing or --no-key, a list repeats, an object is
// JSON. They stand before the command line's own words, which therefore win.
// libyaml parses; aliases are not followed, and depth, size and number of
// values are limited. Throws InputErrors with line and column.
#ifndef FORETELL_INPUT_LAUNCH_CONFIG_H_
#define FORETELL_INPUT_LAUNCH_CONFIG_H_

#include <string>
#include <vector>

#include "spec/engine_facts.h"
#include "spec/serving.h"

namespace foretell {

std::vector<LaunchWord> ReadLaunchConfig(const std::string& bytes,
                                         const std::string& source,
                                         const EngineFacts& facts);

}  // namespace foretell

#endif  // FORETELL_INPUT_LAUNCH_CONFIG_H_
