// From a configuration to a model: which class it means, which family has that
// class, and the graph with the model's parameters.
//
// The class is, in this order: what was asked for; the first of the file's
// `architectures` that a family has, or an old name of one; the class that
// `model_type` alone would load. transformers 5.23 does the same
// (models/auto/), and refuses a file that states neither.
#ifndef FORETELL_MODELS_BUILD_H_
#define FORETELL_MODELS_BUILD_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "graph/builder.h"
#include "models/family.h"
#include "models/model.h"
#include "spec/config_view.h"
#include "spec/model_config.h"

namespace foretell {

struct BuildOptions {
  std::optional<std::string> class_name;
  // In place of a class: what the class is for, "sequence-classification".
  std::optional<std::string> task;
  // Only classes that the library has, as its recordings see a file.
  bool library_only = false;
  std::optional<DType> dtype;
  std::optional<int64_t> most_layers;  // of each stack
  const Library* library = &NewestLibrary();
};

struct BuiltModel {
  const Family* family = nullptr;
  std::string class_name;
  std::string class_source;  // "architectures", "model_type llama", "--class"
  std::string part;          // "text_config" where only that part was read
  DType dtype = DType::kFloat32;
  std::string
      dtype_source;  // "torch_dtype", "--dtype", "the library's default"
  // In this order: a model's handles end before the graph they name.
  std::unique_ptr<Graph> graph;
  std::unique_ptr<Builder> builder;
  std::unique_ptr<Model> model;
};

// A family that is near to an unknown architecture, and what differs.
struct NearFamily {
  const Family* family = nullptr;
  std::vector<std::string> unread;   // keys that this family has no use for
  std::vector<std::string> missing;  // keys that it expects and defaults
};

struct UnknownArchitecture {
  std::string class_name;  // may be empty
  std::string model_type;  // may be empty
  // A nested configuration that a family can read: {"text_config", "llama"}.
  std::vector<std::pair<std::string, const Family*>> readable_parts;
  std::vector<NearFamily> nearest;
};

struct BuildResult {
  std::optional<BuiltModel> built;             // nothing where refused
  std::optional<UnknownArchitecture> unknown;  // the reason, where it is this
  ConfigLog log;                               // problems, findings, defaults
  std::vector<std::string> unread;             // keys that nothing read
};

BuildResult BuildModel(const ModelConfig& config, const BuildOptions& options);

}  // namespace foretell

#endif  // FORETELL_MODELS_BUILD_H_
