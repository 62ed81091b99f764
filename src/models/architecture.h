// Which class a configuration means, and what to say where no family has it.
//
// In: a configuration's `architectures` and `model_type`, or the class that was
// asked for. Out: a family and a class, with what told them. It throws nothing.
// Source of the order: transformers 5.23, models/auto/.
#ifndef FORETELL_MODELS_ARCHITECTURE_H_
#define FORETELL_MODELS_ARCHITECTURE_H_

#include <string>

#include "models/build.h"
#include "models/family.h"
#include "spec/config_view.h"

namespace foretell {

struct Architecture {
  const Family* family = nullptr;  // null where no family has the class
  std::string class_name;          // as found, also where it is unknown
  std::string model_type;
  std::string source;
  // model_type is another family's, so that absent keys would take that
  // family's defaults.
  bool type_disagrees = false;
  std::string part;  // the nested configuration that the class reads, or empty
};

// Notes a problem where `options.class_name` names no class, and findings
// where another class stands in for the one that the file names.
Architecture ChooseArchitecture(const ConfigView& root,
                                const BuildOptions& options);

// The nearest families by which keys they read and expect, and nested parts
// that a family can read.
UnknownArchitecture DescribeUnknown(const ModelConfig& config,
                                    const Architecture& architecture);

// The nested configurations that models of several parts carry.
std::span<const std::string_view> NestedConfigKeys();

}  // namespace foretell

#endif  // FORETELL_MODELS_ARCHITECTURE_H_
