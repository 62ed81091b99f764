// One value of an engine's flag, read as the flag's type demands.
//
// In: the flag's row and the word. Out: the value, or the fault that the engine
// would end with; the caller knows where it stands.
#ifndef FORETELL_INPUT_LAUNCH_VALUE_H_
#define FORETELL_INPUT_LAUNCH_VALUE_H_

#include <optional>
#include <string>
#include <string_view>

#include "spec/config_value.h"
#include "spec/engine_facts.h"
#include "spec/serving.h"

namespace foretell {

struct LaunchValue {
  ConfigValue value;
  std::optional<LaunchFault> fault;
};

LaunchValue ReadLaunchValue(const EngineFacts& facts, const EngineFlag& flag,
                            const std::string& text);

// JSON, else a size such as 80g, else the text: a dotted key's value.
ConfigValue LooseValue(const std::string& text);

// "a,b" as ["a", "b"].
ConfigValue ListOf(std::string_view text);

// "pass_config.fuse" sets a key of a nested object, made where it is not.
void SetDotted(ConfigValue& object, std::string_view path, ConfigValue value);

// A value that shows what the flag wants: "2", "'{\"key\": 1}'".
std::string ExampleOf(const EngineFlag& flag);

}  // namespace foretell

#endif  // FORETELL_INPUT_LAUNCH_VALUE_H_
