#include "input/hub_listing.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "input/hub_id.h"
#include "input/json.h"
#include "spec/model_config.h"

namespace foretell {
namespace {

InputError At(const std::string& text, const ConfigValue& value,
              const std::string& source, std::string key, std::string what) {
  return {PlaceAt(text, value.offset(), source, std::move(key)),
          std::move(what),
          "check HF_ENDPOINT: the answer is not that of a hub"};
}

const ConfigValue* StringIn(const ConfigValue& value, std::string_view key) {
  const ConfigValue* found = value.Find(key);
  return found != nullptr && found->is_string() ? found : nullptr;
}

// The file's own size: that of what a pointer stands for comes first.
std::optional<int64_t> SizeOf(const ConfigValue& row) {
  const ConfigValue* lfs = row.Find("lfs");
  for (const ConfigValue* holder : {lfs, &row}) {
    if (holder == nullptr || !holder->is_object()) continue;
    const ConfigValue* size = holder->Find("size");
    if (size == nullptr) continue;
    const auto bytes = size->AsInteger();
    if (bytes && *bytes >= 0) return bytes;
  }
  return std::nullopt;
}

}  // namespace

HubListing ParseHubListing(const std::string& text, const std::string& source) {
  HubListing out;
  JsonLimits limits;
  limits.bytes = kHubListingBytes;
  JsonResult json = ReadJson(text, source, limits);
  if (json.error) {
    out.error = std::move(json.error);
    return out;
  }
  const ConfigValue* commit = StringIn(json.value, "sha");
  if (commit == nullptr || !IsCommitHash(*commit->AsString())) {
    out.error = At(text, json.value, source, "sha", "names no commit");
    return out;
  }
  out.commit = *commit->AsString();
  const ConfigValue* siblings = json.value.Find("siblings");
  if (siblings == nullptr || !siblings->is_array()) {
    out.error = At(text, json.value, source, "siblings", "lists no files");
    return out;
  }
  for (const ConfigValue& row : siblings->items()) {
    const ConfigValue* name = StringIn(row, "rfilename");
    if (name == nullptr || !IsRepositoryPath(*name->AsString())) continue;
    out.files.push_back({std::string(*name->AsString()), SizeOf(row)});
  }
  std::ranges::sort(out.files, {}, &HubListedFile::name);
  const auto again = std::ranges::unique(out.files, {}, &HubListedFile::name);
  out.files.erase(again.begin(), again.end());
  return out;
}

}  // namespace foretell
