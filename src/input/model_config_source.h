// From what someone typed to a model's configuration.
//
// In: a catalogue id or one of its aliases ("Qwen/Qwen3-8B"), a folder that
// holds config.json, or such a file under any name. A path is meant where it
// exists, begins with "/", "./", "../" or "~", or ends with ".json"; else an
// id. Out: the configuration, a JSON object, with the name by which the
// library tells the type of a file that does not state it: the id, the
// folder's name for a file called config.json, else the file's name without
// ".json" (transformers 5.23, models/auto/configuration_auto.py matches model
// types against the path it was given).
//
// Throws InputErrors: for an id that is unknown (with the nearest), a folder
// without config.json (with what it holds instead), a file of weights, a file
// that is another kind of JSON (an adapter's, a pipeline's, Mistral's own
// params.json), and whatever `ParseJson` and `ReadWholeFile` refuse.
#ifndef FORETELL_INPUT_MODEL_CONFIG_SOURCE_H_
#define FORETELL_INPUT_MODEL_CONFIG_SOURCE_H_

#include <optional>
#include <string>

#include "base/input_error.h"
#include "spec/model_config.h"

namespace foretell {

// Asks nobody: files, and the catalogue. Commands go through model_lookup.h,
// which also knows the hub and its cache.
ModelConfig LoadModelConfig(const std::string& target);

// Whether a path is meant.
bool IsModelPath(const std::string& target);

ModelConfig LoadModelPath(const std::string& path);

// A pure function of the text; `source` is shown in places.
ModelConfig ParseModelConfig(std::string text, std::string source,
                             std::string name);

// The configuration, or why there is none: never both.
struct ModelConfigResult {
  ModelConfig config;
  std::optional<InputError> error;
};

ModelConfigResult ReadModelConfig(std::string text, std::string source,
                                  std::string name);

}  // namespace foretell

#endif  // FORETELL_INPUT_MODEL_CONFIG_SOURCE_H_
