#include "input/measured_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/input_error.h"
#include "input/config_finder.h"
#include "input/device_catalogue.h"
#include "input/json.h"
#include "input/row_fields.h"
#include "input/source_disk.h"

namespace foretell {
namespace {

constexpr char kSharedAliases[] = "../shared/truth/aliases.json";
// A file of another kind would give an error per line.
constexpr size_t kMostErrors = 20;
constexpr char kDtype[] = "torch_dtype";

using Aliases = std::map<std::string, ConfigAlias>;

Aliases LoadAliases(const MeasuredRowsRequest& request) {
  std::string path;
  if (request.aliases_file) {
    path = ExpandHome(*request.aliases_file);
  } else if (KindOfPath(kSharedAliases) == PathKind::kFile) {
    path = kSharedAliases;
  } else {
    path = JoinPath(FolderOf(request.path), "aliases.json");
    if (KindOfPath(path) != PathKind::kFile) return {};
  }
  return ParseConfigAliases(ReadWholeFile(path, kConfigFileBytes), path);
}

std::string TextOf(const ConfigValue& fields, std::string_view key) {
  const ConfigValue* value = fields.Find(key);
  if (value == nullptr) return "";
  return std::string(value->AsString().value_or(""));
}

// "org/name" -> "org--name".
std::string LabelOfId(std::string id) {
  const size_t slash = id.find('/');
  if (slash != std::string::npos) id.replace(slash, 1, "--");
  return id;
}

// A card as records write it, from the whole to its parts: "A100 (on PCIe)",
// "Mac Studio (M3 Ultra 512GB)", "Ryzen AI MAX+ 395 / Radeon 8060S (Strix
// Halo)", "RTX PRO 6000 Blackwell Server Edition".
std::vector<std::string> CardWords(const std::string& name) {
  std::vector<std::string> parts = {name};
  const size_t open = name.find(" (");
  const size_t close = name.find(')', open == std::string::npos ? 0 : open);
  if (open != std::string::npos && close != std::string::npos) {
    parts.push_back(name.substr(0, open));
    parts.push_back(name.substr(open + 2, close - open - 2));
  }
  for (const std::string_view mark : {" / ", " + "}) {
    const size_t at = name.find(mark);
    if (at == std::string::npos) continue;
    parts.push_back(name.substr(0, at));
    parts.push_back(name.substr(at + mark.size()));
  }
  std::vector<std::string> out = parts;
  for (std::string part : parts) {
    for (size_t end = part.rfind(' '); end != std::string::npos;
         end = part.rfind(' ')) {
      part.resize(end);
      // One word alone names a maker, or too many cards.
      if (part.find(' ') == std::string::npos) break;
      out.push_back(part);
    }
  }
  return out;
}

class RowResolver {
 public:
  explicit RowResolver(const MeasuredRowsRequest& request)
      : model_field_(request.model_field),
        card_field_(request.card_field),
        finder_(request.path, request.configs_dir),
        aliases_(LoadAliases(request)) {}

  void Resolve(MeasuredRow& row) {
    row.id = TextOf(row.fields, "id");
    if (!card_field_.empty()) {
      row.device = CardNamed(TextOf(row.fields, card_field_));
    }
    if (model_field_.empty()) return;
    row.model = TextOf(row.fields, model_field_);
    if (row.model.empty()) {
      row.no_config = "the row names no model";
      return;
    }
    const std::string label = LabelOf(row);
    const FoundConfig& found = finder_.Find(label);
    row.config = found.config;
    row.no_config = found.why;
    if (row.config == nullptr ||
        row.config->root.Find("_class_name") == nullptr) {
      return;
    }
    row.config = WithPipelineDtype(row.config, label);
  }

 private:
  // diffusers' own files never state the dtype of the weights, transformers'
  // do: a pipeline is saved as a whole, in that of its text encoders.
  std::shared_ptr<const ModelConfig> WithPipelineDtype(
      const std::shared_ptr<const ModelConfig>& config,
      const std::string& label) {
    const size_t slash = label.find('/');
    if (slash == std::string::npos) return config;
    const std::string encoder = label.substr(0, slash) + "/text_encoder";
    const FoundConfig& found = finder_.Find(encoder);
    const ConfigValue* dtype =
        found.config == nullptr ? nullptr : found.config->root.Find(kDtype);
    if (dtype == nullptr || config->root.Find(kDtype) != nullptr) return config;
    auto out = std::make_shared<ModelConfig>(*config);
    out->root.Set(kDtype, *dtype);
    return out;
  }

  std::string LabelOf(MeasuredRow& row) const {
    std::string label = LabelOfId(row.model);
    const auto alias = aliases_.find(row.model);
    if (alias != aliases_.end()) {
      row.config_how = alias->second.how;
      if (!alias->second.label.empty()) label = alias->second.label;
    }
    if (alias == aliases_.end()) {
      // An organisation that has another name at the hub since.
      constexpr std::string_view kEarlier = "zhipuai--";
      if (label.starts_with(kEarlier)) {
        label = "zai-org--" + label.substr(kEarlier.size());
      }
    }
    const std::string component = TextOf(row.fields, "component");
    if (component.empty()) return label;
    return label.substr(0, label.find('/')) + "/" + component;
  }

  // Rows of one card share it; a name that no card has gives none.
  std::shared_ptr<const Device> CardNamed(const std::string& name) {
    const auto [at, is_new] = devices_.try_emplace(name);
    if (!is_new || name.empty()) return at->second;
    for (const std::string& words : CardWords(name)) {
      if (auto device = foretell::DeviceNamed(words)) {
        at->second = std::make_shared<const Device>(*std::move(device));
        break;
      }
    }
    return at->second;
  }

  std::string model_field_;
  std::string card_field_;
  std::map<std::string, std::shared_ptr<const Device>> devices_;
  ConfigFinder finder_;
  Aliases aliases_;
};

}  // namespace

std::map<std::string, ConfigAlias> ParseConfigAliases(
    const std::string& text, const std::string& source) {
  const ConfigValue root = ParseJson(text, source);
  std::vector<InputError> errors;
  const auto problem = [&](const ConfigValue& value, const std::string& key,
                           std::string what, std::string cure) {
    if (errors.size() == kMostErrors) return;
    errors.push_back({PlaceAt(text, value.offset(), source, key),
                      std::move(what), std::move(cure)});
  };
  if (!root.is_object()) {
    problem(root, "", fmt::format("holds {}, not an object", root.KindName()),
            "pass a list of aliases: {\"NAME\": {\"config\": \"FILE.json\"}}");
  }
  std::map<std::string, ConfigAlias> out;
  for (const auto& [name, entry] : root.members()) {
    const ConfigValue* config = entry.Find("config");
    const bool none = config == nullptr || config->is_null();
    if (!entry.is_object() || (!none && !config->is_string())) {
      problem(entry, name, "is no alias",
              "write {\"config\": \"FILE.json\" or null, \"how\": \"…\"}");
      continue;
    }
    ConfigAlias& alias = out[name];
    if (!none) alias.label = *config->AsString();
    if (alias.label.ends_with(".json")) {
      alias.label.resize(alias.label.size() - 5);
    }
    alias.how = TextOf(entry, "how");
  }
  if (!errors.empty()) throw InputErrors(std::move(errors));
  return out;
}

MeasuredRows LoadMeasuredRows(const MeasuredRowsRequest& request) {
  const std::string text =
      ReadWholeFile(ExpandHome(request.path), kMeasuredFileBytes);
  RowResolver resolver(request);
  MeasuredRows out;
  out.source = request.path;
  std::vector<InputError> errors;
  RowLine at{.text = nullptr, .source = request.path};
  for (size_t start = 0; start < text.size() && errors.size() < kMostErrors;) {
    const size_t end = std::min(text.find('\n', start), text.size());
    const std::string line = text.substr(start, end - start);
    start = end + 1;
    ++at.line;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    at.text = &line;
    auto fields = ReadRow(at, errors);
    if (!fields) continue;
    if (out.rows.size() == kMostMeasuredRows) {
      RowFields(*fields, at, errors)
          .Problem(nullptr, "",
                   fmt::format("is past the {} rows that are read",
                               kMostMeasuredRows),
                   "split the file");
      break;
    }
    MeasuredRow row;
    row.line = at.line;
    row.fields = std::move(*fields);
    resolver.Resolve(row);
    out.rows.push_back(std::move(row));
  }
  if (!errors.empty()) throw InputErrors(std::move(errors));
  return out;
}

}  // namespace foretell
