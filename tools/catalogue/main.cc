// foretell_catalogue CONFIGS ALIASES OUT: writes the catalogue (README.md).
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/input_error.h"
#include "input/catalogue_row.h"
#include "input/json.h"
#include "input/name_fold.h"
#include "input/source_disk.h"
#include "tools/catalogue/index_row.h"
#include "tools/catalogue/kept_keys.h"

namespace foretell {
namespace {

std::string Lower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

// "owner/name" as the hub writes it: no file's name, no sentence.
bool LooksLikeHubId(std::string_view name) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.' ||
           c == '/';
  };
  const size_t slash = name.find('/');
  return slash != std::string_view::npos && slash > 0 &&
         slash + 1 < name.size() &&
         name.find('/', slash + 1) == std::string_view::npos &&
         std::ranges::all_of(name, allowed) && !name.ends_with(".gguf");
}

// What the catalogue says for the commonest reasons; the rest is kept.
std::string Why(const std::string& note) {
  static constexpr std::pair<std::string_view, std::string_view> kShort[] = {
      {"layers, width, heads, vocabulary and total agree with the hub record",
       "sizes and total as the hub records them"},
      {"layers, width, heads and vocabulary agree; totals",
       "sizes agree; totals differ by buffers or scales"},
      {"GGUF header in truth/", "sizes as its GGUF header states them"},
      {"file of the NVFP4 quantization of this model",
       "the row is the file of its NVFP4 quantization"},
      {"file of the FP8 quantization of this model",
       "the row is the file of its FP8 quantization"}};
  for (const auto& [words, reason] : kShort) {
    if (note.find(words) != std::string::npos) return std::string(reason);
  }
  return note;
}

// The first of a configuration's architectures, or nothing.
std::string FirstArchitecture(const ConfigValue& config) {
  const ConfigValue* names = config.Find("architectures");
  if (names == nullptr || names->items().empty()) return "";
  return std::string(names->items().front().AsString().value_or(""));
}

std::string ModelType(const ConfigValue& config) {
  const ConfigValue* type = config.Find("model_type");
  return type == nullptr ? "" : std::string(type->AsString().value_or(""));
}

class Maker {
 public:
  Maker(std::string configs, std::string aliases)
      : configs_(std::move(configs)), aliases_(std::move(aliases)) {}

  std::string Make() {
    const std::string index = JoinPath(configs_, "INDEX.jsonl");
    for (const IndexRow& row :
         ParseIndex(ReadWholeFile(index, kConfigFileBytes), index)) {
      if (row.component.empty()) {
        AddModel(row);
      } else {
        ++components_;
      }
    }
    std::ranges::sort(rows_, [](const auto& a, const auto& b) {
      return CatalogueIdLess(a.id, b.id);
    });
    AddAliases();
    std::string out;
    for (const CatalogueRow& row : rows_) out += ToLine(row) + "\n";
    return out;
  }

  void Report(size_t bytes) const {
    size_t aliases = 0;
    for (const CatalogueRow& row : rows_) aliases += row.aliases.size();
    fmt::print(stderr,
               "{} rows, {} aliases, {} bytes; left out: {} components of "
               "pipelines\n",
               rows_.size(), aliases, bytes, components_);
    for (const std::string& line : left_out_) {
      fmt::print(stderr, "  {}\n", line);
    }
  }

 private:
  void LeaveOut(const std::string& what, const std::string& why) {
    left_out_.push_back(what + ": " + why);
  }

  void AddModel(const IndexRow& index) {
    const std::string path = JoinPath(configs_, index.file);
    const FileResult file = ReadFileOrError(path, kConfigFileBytes);
    if (file.error) return LeaveOut(index.id, file.error->what);
    const JsonResult json = ReadJson(file.bytes, path);
    if (json.error) return LeaveOut(index.id, json.error->what);
    if (!json.value.is_object()) return LeaveOut(index.id, "is no object");
    CatalogueRow row;
    row.hyper = KeptKeys(json.value);
    row.class_name = FirstArchitecture(json.value);
    row.model_type = ModelType(json.value);
    row.limits = Limits(index);
    if (row.class_name.empty() && row.model_type.empty()) {
      // transformers looks for a type's name in the path or id.
      if (index.model_type.empty() ||
          Lower(index.id).find(index.model_type) == std::string::npos) {
        return LeaveOut(index.id, "states neither model_type nor a class");
      }
      row.model_type = index.model_type;
      row.hyper.Set("model_type", ConfigValue::String(index.model_type));
      row.limits += row.limits.empty() ? "" : "; ";
      row.limits += "model_type is told by the id";
    }
    if (!LooksLikeHubId(index.id) || !CanFold(row.hyper)) {
      return LeaveOut(index.id, "its id or keys have no form in the catalogue");
    }
    row.id = index.id;
    row.kind = index.kind;
    row.source = index.source;
    row.date = index.date;
    row.published = index.published;
    if (row.published &&
        row.published->where.find("recalled") != std::string::npos) {
      LeaveOut(index.id + ", published total", "recalled, not read anywhere");
      row.published.reset();
    }
    rows_of_files_[index.file] = row.id;
    rows_.push_back(std::move(row));
  }

  void AddAliases() {
    std::map<std::string, CatalogueRow*> by_id;
    std::set<std::string> taken;
    for (CatalogueRow& row : rows_) {
      by_id[row.id] = &row;
      taken.insert(Lower(row.id));
    }
    const ConfigValue aliases =
        ParseJson(ReadWholeFile(aliases_, kConfigFileBytes), aliases_);
    std::vector<ConfigValue::Member> sorted = aliases.members();
    std::ranges::sort(sorted, CatalogueIdLess, &ConfigValue::Member::first);
    for (const auto& [alias, entry] : sorted) {
      const auto text = [&entry = entry](std::string_view key) {
        const ConfigValue* value = entry.Find(key);
        return value == nullptr ? std::string()
                                : std::string(value->AsString().value_or(""));
      };
      if (text("how") != "same" || !LooksLikeHubId(alias)) continue;
      const auto file = rows_of_files_.find(text("config"));
      if (file == rows_of_files_.end()) continue;
      if (!taken.insert(Lower(alias)).second) continue;
      by_id[file->second]->aliases.push_back({alias, Why(text("note"))});
    }
  }

  std::string configs_;
  std::string aliases_;
  std::vector<CatalogueRow> rows_;
  std::map<std::string, std::string> rows_of_files_;  // file -> id
  std::vector<std::string> left_out_;
  size_t components_ = 0;
};

int Main(int argc, char** argv) {
  if (argc != 4) {
    fmt::print(stderr, "usage: foretell_catalogue CONFIGS ALIASES OUT\n");
    return 2;
  }
  try {
    Maker maker(argv[1], argv[2]);
    const std::string bytes = maker.Make();
    std::ofstream out(argv[3], std::ios::binary | std::ios::trunc);
    out << bytes;
    out.close();
    if (!out) {
      fmt::print(stderr, "error: {}: cannot be written\n", argv[3]);
      return 2;
    }
    maker.Report(bytes.size());
    return 0;
  } catch (const InputErrors& errors) {
    fmt::print(stderr, "{}", errors.what());
    return 2;
  }
}

}  // namespace
}  // namespace foretell

int main(int argc, char** argv) { return foretell::Main(argc, argv); }
