// What the target of `foretell model` is: a configuration, a checkpoint, or
// both; and the checkpoint of --against.
//
// In: a parsed command line. Out: what was read. A folder gives the headers of
// its weights beside its config.json; a GGUF file the configuration that its
// metadata holds; any other file of weights that of a config.json beside it.
//
// Throws InputErrors; a checkpoint that merely lies beside a configuration and
// cannot be read is no error: `no_checkpoint` says why.
#ifndef FORETELL_FRONT_MODEL_TARGET_H_
#define FORETELL_FRONT_MODEL_TARGET_H_

#include <optional>
#include <string>

#include "front/invocation.h"
#include "spec/checkpoint.h"
#include "spec/model_config.h"

namespace foretell {

struct ModelTarget {
  std::optional<ModelConfig> config;
  std::string no_config;  // why there is none
  std::optional<Checkpoint> checkpoint;
  std::string no_checkpoint;
  bool against = false;
};

ModelTarget LoadModelTarget(const Invocation& invocation);

}  // namespace foretell

#endif  // FORETELL_FRONT_MODEL_TARGET_H_
