#include "input/model_config_source.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <memory>
#include <string_view>
#include <utility>

#include "input/catalogue.h"
#include "input/hub_id.h"
#include "input/json.h"
#include "input/other_file.h"
#include "input/source_disk.h"

namespace foretell {
namespace {

// transformers tells a configuration without `model_type` by the path that it
// was given; of that, the part that people choose for the model.
std::string NameOfFile(const std::string& path) {
  const std::string name = LastNameOf(path);
  if (name == "config.json") return LastNameOf(FolderOf(path));
  return name.ends_with(".json") ? name.substr(0, name.size() - 5) : name;
}

ModelConfig LoadFile(const std::string& path, std::string name) {
  if (auto weights = IfWeights(path)) throw InputErrors(std::move(*weights));
  return ParseModelConfig(ReadWholeFile(path, kConfigFileBytes), path,
                          std::move(name));
}

InputError UnknownId(const std::string& id) {
  Place place;
  place.source = id.empty() ? "\"\"" : id.substr(0, 120);
  const auto near = NearestIds(id);
  return {std::move(place),
          "is not in the catalogue, and no file or folder has this name",
          near.empty()
              ? "pass the path of its config.json"
              : fmt::format("pass the path of its config.json; the nearest "
                            "that are known: {}",
                            fmt::join(near, ", "))};
}

}  // namespace

ModelConfigResult ReadModelConfig(std::string text, std::string source,
                                  std::string name) {
  ModelConfigResult result;
  auto bytes = std::make_shared<const std::string>(std::move(text));
  // The longest known, with a table of 21,000 label names, has some 45,000.
  JsonLimits limits;
  limits.values = 200'000;
  JsonResult json = ReadJson(*bytes, source, limits);
  if (json.error) {
    result.error = std::move(json.error);
    return result;
  }
  if (!json.value.is_object()) {
    result.error = {PlaceAt(*bytes, json.value.offset(), source, ""),
                    fmt::format("holds {}, not an object of settings",
                                json.value.KindName()),
                    "pass a model's config.json"};
    return result;
  }
  if (auto other = IfOtherJson(json.value)) {
    Place place;
    place.source = source;
    result.error = {std::move(place), std::move(other->what),
                    std::move(other->cure)};
    return result;
  }
  result.config.root = std::move(json.value);
  result.config.source = std::move(source);
  result.config.name = std::move(name);
  result.config.text = std::move(bytes);
  result.config.notes = std::move(json.notes);
  return result;
}

ModelConfig ParseModelConfig(std::string text, std::string source,
                             std::string name) {
  ModelConfigResult result =
      ReadModelConfig(std::move(text), std::move(source), std::move(name));
  if (result.error) throw InputErrors(std::move(*result.error));
  return std::move(result.config);
}

bool IsModelPath(const std::string& target) {
  static constexpr std::array<std::string_view, 4> kBeginnings = {"/", "./",
                                                                  "../", "~"};
  for (const std::string_view beginning : kBeginnings) {
    if (target.starts_with(beginning)) return true;
  }
  return target == "." || target == ".." || target.ends_with(".json") ||
         KindOfPath(target) != PathKind::kMissing;
}

ModelConfig LoadModelPath(const std::string& path) {
  if (KindOfPath(path) != PathKind::kFolder) {
    return LoadFile(path, NameOfFile(path));
  }
  const std::string file = JoinPath(path, "config.json");
  if (KindOfPath(file) == PathKind::kMissing) {
    throw InputErrors(DescribeFolderWithoutConfig(path));
  }
  return LoadFile(file, LastNameOf(path));
}

ModelConfig LoadModelConfig(const std::string& target) {
  if (IsModelPath(target)) return LoadModelPath(ExpandHome(target));
  const std::string id = ReadHubTarget(target).id;
  if (auto config = FromCatalogue(id)) return std::move(*config);
  throw InputErrors(UnknownId(id));
}

}  // namespace foretell
