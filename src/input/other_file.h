// Files that people pass for a model's configuration and that are something
// else: weights, an adapter's settings, a pipeline's index, a tokenizer.
//
// In: a file's path, or a parsed JSON object, or a folder that lacks
// config.json. Out: the error that says what it is and what to pass instead,
// or nothing where the thing is not recognised as another kind.
//
// A configuration that states `model_type` or `architectures` is never taken
// for something else, whatever other keys it has.
#ifndef FORETELL_INPUT_OTHER_FILE_H_
#define FORETELL_INPUT_OTHER_FILE_H_

#include <optional>
#include <string>

#include "base/input_error.h"
#include "spec/config_value.h"

namespace foretell {

// What a thing is, and what to pass in its place.
struct OtherKind {
  std::string what;
  std::string cure;
};

// Told by the first bytes (safetensors, GGUF, zip and pickle of PyTorch,
// HDF5), else by the name's ending. Reads 16 bytes.
std::optional<InputError> IfWeights(const std::string& path);

// Told by its keys; pure.
std::optional<OtherKind> IfOtherJson(const ConfigValue& root);

// A folder that holds no config.json: what it holds instead.
InputError DescribeFolderWithoutConfig(const std::string& folder);

}  // namespace foretell

#endif  // FORETELL_INPUT_OTHER_FILE_H_
