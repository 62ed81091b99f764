// A configuration as a model whose parameters are counted, or the refusal that
// every question about a model shares.
//
// In: a configuration. Out: the built model with what was read of it. It throws
// nothing: what is wrong with the input is in the refusal.
#ifndef FORETELL_ANSWERS_READ_MODEL_H_
#define FORETELL_ANSWERS_READ_MODEL_H_

#include <string>
#include <variant>
#include <vector>

#include "analysis/parameters.h"
#include "answers/refusal.h"
#include "models/build.h"
#include "spec/model_config.h"
#include "spec/recording.h"

namespace foretell {

struct ReadModel {
  BuiltModel built;
  ConfigLog log;
  std::vector<std::string> unread;
  ParameterAnalysis parameters;
};

// The refusal names the place, what is wrong and what to do; for an unknown
// architecture the nearest families and which keys differ.
std::variant<ReadModel, Refusal> ReadModelOf(const ModelConfig& config,
                                             const BuildOptions& options);

// A configuration with `overrides` set on top of what the class works out as
// it loads; itself where there are none.
ModelConfig WithOverrides(ModelConfig config,
                          const std::vector<Override>& overrides,
                          const BuildOptions& options);

// The library and version whose classes the families follow: transformers, and
// diffusers' for those that are named after it.
std::string FollowedLibrary();
std::string FollowedLibrary(const Family& family);

}  // namespace foretell

#endif  // FORETELL_ANSWERS_READ_MODEL_H_
