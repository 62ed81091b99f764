#include "input/truth_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "input/catalogue.h"
#include "input/model_config_source.h"
#include "input/recording.h"
#include "input/source_disk.h"
#include "input/trace.h"

namespace foretell {
namespace {

constexpr char kSharedConfigs[] = "../shared/configs";

// A configuration, or why there is none.
struct Found {
  std::optional<ModelConfig> config;
  std::string why;
};

std::string Lower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

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

// Finds configurations by label; each is read once.
class ConfigFinder {
 public:
  ConfigFinder(std::string folder, bool catalogue)
      : folder_(std::move(folder)), catalogue_(catalogue) {}

  const Found& Find(const std::string& label) {
    const auto [at, is_new] = found_.try_emplace(label);
    if (is_new) at->second = Look(label);
    return at->second;
  }

 private:
  Found Look(const std::string& label) const {
    const bool leaves =
        label.starts_with('/') || label.find("..") != std::string::npos;
    if (label.empty() || leaves) {
      return {std::nullopt, "its label is no name of a configuration"};
    }
    if (!folder_.empty()) {
      const std::string path = JoinPath(folder_, label + ".json");
      if (KindOfPath(path) != PathKind::kMissing) return Read(path, label);
    }
    if (catalogue_) {
      if (auto config = InCatalogue(label)) return {std::move(*config), ""};
    }
    std::string why = "no configuration of this label";
    if (!folder_.empty()) why += " in " + folder_;
    if (catalogue_) {
      why += folder_.empty() ? " in the catalogue" : " or in the catalogue";
    }
    return {std::nullopt, std::move(why)};
  }

  static Found Read(const std::string& path, const std::string& label) {
    FileResult file = ReadFileOrError(path, kConfigFileBytes);
    if (file.error) return Unreadable(*file.error);
    // The recorder gives the library a folder of this name.
    const size_t slash = label.rfind('/');
    const std::string stem =
        slash == std::string::npos ? label : label.substr(slash + 1);
    ModelConfigResult config =
        ReadModelConfig(std::move(file.bytes), path, Lower(stem));
    if (config.error) return Unreadable(*config.error);
    return {std::move(config.config), ""};
  }

  static Found Unreadable(const InputError& error) {
    return {std::nullopt, "its configuration cannot be read: " + error.what};
  }

  static std::optional<ModelConfig> InCatalogue(const std::string& label) {
    const size_t dashes = label.find("--");
    if (dashes == std::string::npos) return std::nullopt;
    const std::string id =
        label.substr(0, dashes) + "/" + label.substr(dashes + 2);
    auto config = FromCatalogue(id);
    // An alias may differ where the recording does not.
    if (!config || config->catalogue->id != id) return std::nullopt;
    return config;
  }

  std::string folder_;
  bool catalogue_;
  std::map<std::string, Found> found_;
};

ConfigFinder FinderOf(const std::string& path,
                      const std::optional<std::string>& configs_dir) {
  if (configs_dir) {
    std::string folder = ExpandHome(*configs_dir);
    if (KindOfPath(folder) != PathKind::kFolder) {
      Place place;
      place.source = *configs_dir;
      throw InputErrors(InputError{
          std::move(place), "is no folder",
          "pass the folder that holds the configurations (LABEL.json)"});
    }
    return {std::move(folder), false};
  }
  if (KindOfPath(kSharedConfigs) == PathKind::kFolder) {
    return {kSharedConfigs, true};
  }
  return {ConfigsNear(path), true};
}

}  // namespace

TruthSet LoadTruthSet(const std::string& path,
                      const std::optional<std::string>& configs_dir) {
  TruthSet out;
  out.source = path;
  ConfigFinder finder = FinderOf(path, configs_dir);
  for (Recording& recording : LoadRecordings(path)) {
    const Found& found = finder.Find(recording.config);
    TruthCase one;
    one.config = found.config;
    one.no_config = found.why;
    if (one.config) ApplyOverrides(recording.edits, one.config->root);
    one.recording = std::move(recording);
    out.cases.push_back(std::move(one));
  }
  return out;
}

TraceCase LoadTraceCase(const std::string& path,
                        const std::optional<std::string>& configs_dir) {
  TraceCase out;
  out.source = path;
  out.trace = LoadTrace(path);
  ConfigFinder finder = FinderOf(path, configs_dir);
  const Found& found = finder.Find(out.trace.config);
  out.config = found.config;
  out.no_config = found.why;
  return out;
}

}  // namespace foretell
