#include "spec/recording.h"

#include <algorithm>

namespace foretell {
namespace {

void Apply(const Override& override, ConfigValue& root) {
  ConfigValue* at = &root;
  for (size_t i = 0; i + 1 < override.path.size(); ++i) {
    const ConfigValue* next = at->Find(override.path[i]);
    if (next == nullptr || !next->is_object()) {
      at->Set(override.path[i], ConfigValue::Object());
    }
    at = at->Find(override.path[i]);
  }
  const std::string& key = override.path.back();
  if (override.value) {
    at->Set(key, *override.value);
    return;
  }
  std::erase_if(at->mutable_members(),
                [&key](const auto& member) { return member.first == key; });
}

}  // namespace

void ApplyOverrides(const std::vector<Override>& overrides, ConfigValue& root) {
  for (const Override& override : overrides) {
    if (!override.path.empty()) Apply(override, root);
  }
}

}  // namespace foretell
