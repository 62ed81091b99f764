#include "input/other_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "input/json.h"
#include "input/source_disk.h"

namespace foretell {
namespace {

// Past any adapter_config.json by far.
constexpr int64_t kSmallFileBytes = int64_t{1} << 20;
// So many names are listed in a message.
constexpr size_t kMostNames = 6;

std::string_view WeightsByBytes(std::string_view start) {
  if (start.starts_with("GGUF")) return "GGUF";
  if (start.starts_with("PK\x03\x04")) return "a zip file, as PyTorch saves";
  if (start.starts_with("\x89HDF")) return "HDF5";
  if (start.size() >= 2 && start[0] == '\x80' && start[1] >= 2 &&
      start[1] <= 5) {
    return "a Python pickle";
  }
  if (start.size() < 9 || start[8] != '{') return "";
  // safetensors: the header's length in eight bytes, then the header, which
  // its own reader limits to 100 MB (safetensors 0.6, src/tensor.rs).
  uint64_t length = 0;
  for (size_t i = 8; i-- > 0;) {
    length = length << 8 | static_cast<unsigned char>(start[i]);
  }
  return length <= 100'000'000 ? "safetensors" : "";
}

std::string_view WeightsByName(std::string_view path) {
  static constexpr std::pair<std::string_view, std::string_view> kEndings[] = {
      {".safetensors", "safetensors"},
      {".gguf", "GGUF"},
      {".bin", "PyTorch"},
      {".pt", "PyTorch"},
      {".pth", "PyTorch"},
      {".ckpt", "PyTorch"},
      {".onnx", "ONNX"},
      {".h5", "HDF5"},
      {".msgpack", "Flax"},
      {".npz", "NumPy"}};
  for (const auto& [ending, kind] : kEndings) {
    if (path.ends_with(ending)) return kind;
  }
  return "";
}

bool Has(const ConfigValue& root, std::string_view key) {
  return root.Find(key) != nullptr;
}

std::string TextOf(const ConfigValue& root, std::string_view key) {
  const ConfigValue* value = root.Find(key);
  if (value == nullptr) return "";
  return std::string(value->AsString().value_or(""));
}

OtherKind Adapter(const ConfigValue& root) {
  const std::string base = TextOf(root, "base_model_name_or_path");
  if (base.empty()) {
    return {"describes an adapter, not a model",
            "pass the model that the adapter was trained on"};
  }
  return {fmt::format("describes an adapter of {}, not a model", base),
          fmt::format("pass its base model: {}", base)};
}

// A component of a pipeline is ["library", "class"].
std::vector<std::string> PipelineParts(const ConfigValue& root) {
  std::vector<std::string> parts;
  for (const auto& [key, value] : root.members()) {
    if (value.is_array() && value.items().size() == 2 &&
        value.items()[0].is_string() && value.items()[1].is_string()) {
      parts.push_back(key);
    }
  }
  return parts;
}

OtherKind Pipeline(const ConfigValue& root) {
  const std::vector<std::string> parts = PipelineParts(root);
  const std::string which =
      parts.empty() ? "its transformer/config.json"
                    : fmt::format("one of its parts' config.json ({})",
                                  fmt::join(parts, ", "));
  return {"describes a pipeline of several models, not one",
          fmt::format("pass {}", which)};
}

// At most kMostNames of them, and how many more there are.
std::string Listed(const std::vector<std::string>& names) {
  const size_t shown = std::min(names.size(), kMostNames);
  std::string out = fmt::format(
      "{}", fmt::join(names.begin(),
                      names.begin() + static_cast<int64_t>(shown), ", "));
  if (names.size() > shown) {
    out += fmt::format(" and {} more", names.size() - shown);
  }
  return out;
}

std::vector<std::string> WithConfig(const std::string& folder,
                                    const std::vector<std::string>& names) {
  std::vector<std::string> out;
  for (const std::string& name : names) {
    if (!name.ends_with('/') || out.size() > kMostNames) continue;
    const std::string below = JoinPath(folder, name);
    if (KindOfPath(JoinPath(below, "config.json")) == PathKind::kFile) {
      out.push_back(below.substr(0, below.size() - 1));
    }
  }
  return out;
}

bool Contains(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

// Of the JSON files that stand in a config.json's place, the first that is
// recognised as what it is.
std::optional<OtherKind> OtherJsonIn(const std::string& folder,
                                     const std::vector<std::string>& names) {
  static constexpr std::array<std::string_view, 3> kInItsPlace = {
      "adapter_config.json", "model_index.json", "params.json"};
  for (const std::string_view name : kInItsPlace) {
    if (!Contains(names, name)) continue;
    const std::string path = JoinPath(folder, name);
    const FileResult file = ReadFileOrError(path, kSmallFileBytes);
    if (file.error) continue;
    const JsonResult json = ReadJson(file.bytes, path);
    if (json.error) continue;
    auto kind = IfOtherJson(json.value);
    if (!kind) continue;
    kind->what =
        fmt::format("{}: its {} {}", "has no config.json", name, kind->what);
    return kind;
  }
  return std::nullopt;
}

OtherKind FolderKind(const std::string& folder,
                     const std::vector<std::string>& names) {
  if (names.empty()) {
    return {"is an empty folder, or one that may not be read",
            "pass a folder that holds config.json"};
  }
  const std::vector<std::string> below = WithConfig(folder, names);
  if (auto other = OtherJsonIn(folder, names)) {
    if (Contains(names, "model_index.json") && !below.empty()) {
      other->cure = fmt::format("pass one of its parts: {}", Listed(below));
    }
    return *other;
  }
  // The hub's cache: models--org--name/snapshots/REVISION/config.json.
  if (Contains(names, "snapshots/")) {
    const std::string snapshots = JoinPath(folder, "snapshots");
    const auto revisions = WithConfig(snapshots, NamesInFolder(snapshots));
    if (!revisions.empty()) {
      return {"is a model's folder in the hub's cache",
              fmt::format("pass a revision: {}", Listed(revisions))};
    }
  }
  const std::string held =
      fmt::format("has no config.json; it holds {}", Listed(names));
  if (!below.empty()) {
    return {held, fmt::format("pass a folder that has one: {}", Listed(below))};
  }
  const bool weights = std::ranges::any_of(names, [](const std::string& name) {
    return !WeightsByName(name).empty();
  });
  if (weights) {
    return {held,
            "put the config.json of the model that the weights were made from "
            "beside them, or pass its path or the model's id"};
  }
  return {held, "pass a folder that holds config.json, or a model's id"};
}

}  // namespace

std::optional<InputError> IfWeights(const std::string& path) {
  const std::string start = ReadFileStart(path, 16);
  std::string_view kind = WeightsByBytes(start);
  // A pointer of Git LFS has the name of what it stands for.
  if (kind.empty() && !start.starts_with("version https") &&
      !start.starts_with('{')) {
    kind = WeightsByName(path);
  }
  if (kind.empty()) return std::nullopt;
  Place place;
  place.source = path;
  const std::string beside = JoinPath(FolderOf(path), "config.json");
  return InputError{
      place, fmt::format("holds weights ({}), not a configuration", kind),
      KindOfPath(beside) == PathKind::kFile
          ? fmt::format("pass {}, which lies beside it", beside)
          : "pass the config.json of the model that it was made from"};
}

std::optional<OtherKind> IfOtherJson(const ConfigValue& root) {
  if (!root.is_object() || Has(root, "model_type") ||
      Has(root, "architectures")) {
    return std::nullopt;
  }
  if (Has(root, "peft_type") || Has(root, "base_model_name_or_path")) {
    return Adapter(root);
  }
  if (TextOf(root, "_class_name").ends_with("Pipeline")) {
    return Pipeline(root);
  }
  // A part of a pipeline may have such keys too, and states its class.
  if (Has(root, "dim") && Has(root, "n_layers") && Has(root, "n_heads") &&
      Has(root, "vocab_size") && !Has(root, "_class_name")) {
    return OtherKind{
        "is the params.json of a model in its publisher's own layout",
        "pass the config.json of the same model in transformers' layout, or "
        "its id"};
  }
  if (Has(root, "weight_map")) {
    return OtherKind{"lists the files of a checkpoint",
                     "pass the config.json that lies beside it"};
  }
  if (Has(root, "added_tokens") && Has(root, "model")) {
    return OtherKind{"is a tokenizer",
                     "pass the config.json that lies beside it"};
  }
  return std::nullopt;
}

InputError DescribeFolderWithoutConfig(const std::string& folder) {
  OtherKind kind = FolderKind(folder, NamesInFolder(folder));
  Place place;
  place.source = folder;
  return {std::move(place), std::move(kind.what), std::move(kind.cure)};
}

}  // namespace foretell
