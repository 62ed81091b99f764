#include "tools/catalogue/kept_keys.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "spec/ignorable_keys.h"

namespace foretell {
namespace {

// Token ids that a class may read although most do not.
constexpr std::array<std::string_view, 4> kKeptTokenIds = {
    "pad_token_id", "bos_token_id", "eos_token_id", "decoder_start_token_id"};

bool IsKept(std::string_view key, const ConfigValue& value) {
  if (!IsIgnorableKey(key)) return true;
  return value.AsInteger() &&
         std::ranges::find(kKeptTokenIds, key) != kKeptTokenIds.end();
}

// The number of labels that a table of their names states; nothing where
// there is no table, or it has the two that the library assumes.
std::optional<size_t> LabelCount(const ConfigValue& object) {
  const ConfigValue* table = object.Find("id2label");
  if (table == nullptr || !table->is_object()) return std::nullopt;
  const size_t count = table->members().size();
  if (count == 2) return std::nullopt;
  return count;
}

}  // namespace

ConfigValue KeptKeys(const ConfigValue& config) {
  if (config.is_array()) {
    ConfigValue out = ConfigValue::Array();
    for (const ConfigValue& item : config.items()) {
      out.mutable_items().push_back(KeptKeys(item));
    }
    return out;
  }
  if (!config.is_object()) return config;
  ConfigValue out = ConfigValue::Object();
  for (const auto& [key, value] : config.members()) {
    if (!IsKept(key, value)) continue;
    // Below it, keys are names of modules.
    const bool whole = key == "quantization_config";
    out.mutable_members().emplace_back(key, whole ? value : KeptKeys(value));
  }
  if (const auto labels = LabelCount(config)) {
    out.Set("num_labels", ConfigValue::Number(std::to_string(*labels)));
  }
  return out;
}

}  // namespace foretell
