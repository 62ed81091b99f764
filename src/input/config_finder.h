// Configurations by label, each read once: what recordings and measured
// records name.
//
// In: a label, which is a file of the folder of configurations without
// ".json" ("Qwen--Qwen3-8B", or with its folder
// "fal--AuraFlow-v0.3/transformer"). Out: the configuration, or the reason why
// there is none: the same text for every label that lacks it for that reason.
//
// Where no folder is given: ../shared/configs if it exists, else the nearest
// folder `configs` beside one of the file's parents, and then the catalogue,
// whose id is the label with "/" for "--".
//
// Throws InputErrors where the given folder is no folder.
#ifndef FORETELL_INPUT_CONFIG_FINDER_H_
#define FORETELL_INPUT_CONFIG_FINDER_H_

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "spec/model_config.h"

namespace foretell {

// Null `config` exactly where `why` says why.
struct FoundConfig {
  std::shared_ptr<const ModelConfig> config;
  std::string why;
};

// The folder for a file's rows where none is given; empty where there is none.
std::string ConfigsOf(const std::string& file);

class ConfigFinder {
 public:
  // `file` is the one whose rows name configurations.
  ConfigFinder(const std::string& file,
               const std::optional<std::string>& configs_dir);

  const FoundConfig& Find(const std::string& label);

 private:
  FoundConfig Look(const std::string& label) const;

  std::string folder_;  // empty: none
  bool catalogue_ = true;
  std::map<std::string, FoundConfig> found_;
};

}  // namespace foretell

#endif  // FORETELL_INPUT_CONFIG_FINDER_H_
