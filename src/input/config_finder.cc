#include "input/config_finder.h"

#include <utility>

#include "base/lower_case.h"
#include "input/catalogue.h"
#include "input/model_config_source.h"
#include "input/source_disk.h"

namespace foretell {
namespace {

constexpr char kSharedConfigs[] = "../shared/configs";

// The nearest folder `configs` beside one of the file's parents; empty where
// there is none.
std::string ConfigsNear(const std::string& file) {
  std::string folder = FolderOf(AbsolutePath(file));
  while (true) {
    std::string configs = JoinPath(folder, "configs");
    if (KindOfPath(configs) == PathKind::kFolder) return configs;
    const std::string above = FolderOf(folder);
    if (above == folder) return "";
    folder = above;
  }
}

FoundConfig Unreadable(const InputError& error) {
  return {nullptr, "its configuration cannot be read: " + error.what};
}

// What ModelOpt's checkpoints keep in a file of its own beside config.json;
// engines read it as the configuration's own entry. In the folder named as the
// file is.
void AddQuantization(const std::string& path, ModelConfig& config) {
  if (config.root.Find("quantization_config") != nullptr) return;
  if (!path.ends_with(".json")) return;
  const std::string beside =
      JoinPath(path.substr(0, path.size() - 5), "hf_quant_config.json");
  if (KindOfPath(beside) != PathKind::kFile) return;
  FileResult file = ReadFileOrError(beside, kConfigFileBytes);
  if (file.error) return;
  ModelConfigResult read =
      ReadModelConfig(std::move(file.bytes), beside, config.name);
  if (read.error) return;
  config.root.Set("quantization_config", std::move(read.config.root));
}

FoundConfig Read(const std::string& path, const std::string& label) {
  FileResult file = ReadFileOrError(path, kConfigFileBytes);
  if (file.error) return Unreadable(*file.error);
  // The recorder gives the library a folder of this name.
  const size_t slash = label.rfind('/');
  const std::string stem =
      slash == std::string::npos ? label : label.substr(slash + 1);
  ModelConfigResult config =
      ReadModelConfig(std::move(file.bytes), path, Lower(stem));
  if (config.error) return Unreadable(*config.error);
  AddQuantization(path, config.config);
  return {std::make_shared<const ModelConfig>(std::move(config.config)), ""};
}

std::optional<ModelConfig> InCatalogue(const std::string& label) {
  const size_t dashes = label.find("--");
  if (dashes == std::string::npos) return std::nullopt;
  const std::string id =
      label.substr(0, dashes) + "/" + label.substr(dashes + 2);
  auto config = FromCatalogue(id);
  // An alias may differ where the row's model does not.
  if (!config || config->catalogue->id != id) return std::nullopt;
  return config;
}

}  // namespace

ConfigFinder::ConfigFinder(const std::string& file,
                           const std::optional<std::string>& configs_dir) {
  if (configs_dir) {
    folder_ = ExpandHome(*configs_dir);
    catalogue_ = false;
    if (KindOfPath(folder_) == PathKind::kFolder) return;
    Place place;
    place.source = *configs_dir;
    throw InputErrors(InputError{
        std::move(place), "is no folder",
        "pass the folder that holds the configurations (LABEL.json)"});
  }
  folder_ = ConfigsOf(file);
}

std::string ConfigsOf(const std::string& file) {
  return KindOfPath(kSharedConfigs) == PathKind::kFolder ? kSharedConfigs
                                                         : ConfigsNear(file);
}

const FoundConfig& ConfigFinder::Find(const std::string& label) {
  const auto [at, is_new] = found_.try_emplace(label);
  if (is_new) at->second = Look(label);
  return at->second;
}

FoundConfig ConfigFinder::Look(const std::string& label) const {
  const bool leaves =
      label.starts_with('/') || label.find("..") != std::string::npos;
  if (label.empty() || leaves) {
    return {nullptr, "its label is no name of a configuration"};
  }
  if (!folder_.empty()) {
    const std::string path = JoinPath(folder_, label + ".json");
    if (KindOfPath(path) != PathKind::kMissing) return Read(path, label);
  }
  if (catalogue_) {
    if (auto config = InCatalogue(label)) {
      return {std::make_shared<const ModelConfig>(std::move(*config)), ""};
    }
  }
  std::string why = "no configuration of this label";
  if (!folder_.empty()) why += " in " + folder_;
  if (catalogue_) {
    why += folder_.empty() ? " in the catalogue" : " or in the catalogue";
  }
  return {nullptr, std::move(why)};
}

}  // namespace foretell
