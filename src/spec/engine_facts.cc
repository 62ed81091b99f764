#include "spec/engine_facts.h"

#include <algorithm>

namespace foretell {
namespace {

template <typename Map>
auto* FindIn(const Map& map, std::string_view name) {
  const auto found = map.find(name);
  return found == map.end() ? nullptr : &found->second;
}

}  // namespace

bool EngineArchitecture::Is(std::string_view fact) const {
  return std::ranges::find(facts, fact) != facts.end();
}

std::string_view EngineArchitecture::Value(std::string_view key) const {
  for (const std::string& fact : facts) {
    const std::string_view text = fact;
    if (text.size() > key.size() && text.starts_with(key) &&
        text[key.size()] == '=') {
      return text.substr(key.size() + 1);
    }
  }
  return "";
}

const std::string* EngineConfigClass::Find(std::string_view name) const {
  const auto found = std::ranges::find(
      fields, name, &std::pair<std::string, std::string>::first);
  return found == fields.end() ? nullptr : &found->second;
}

const ConfigValue* ConfigClassFacts::Default(std::string_view name) const {
  const auto found =
      std::ranges::find(has, name, &std::pair<std::string, ConfigValue>::first);
  return found == has.end() ? nullptr : &found->second;
}

const EngineFlag* EngineFacts::FindFlag(std::string_view name) const {
  for (const EngineFlag& flag : flags) {
    if (flag.flag == name ||
        std::ranges::find(flag.also, name) != flag.also.end()) {
      return &flag;
    }
  }
  return nullptr;
}

const EngineQuantization* EngineFacts::FindQuantization(
    std::string_view name) const {
  const auto found =
      std::ranges::find(quantizations, name, &EngineQuantization::name);
  return found == quantizations.end() ? nullptr : &*found;
}

const EngineArchitecture* EngineFacts::FindArchitecture(
    std::string_view name) const {
  return FindIn(architectures, name);
}

const ConfigClassFacts* EngineFacts::FindModelType(
    std::string_view name) const {
  return FindIn(model_types, name);
}

bool EngineFacts::Lists(std::string_view list, std::string_view value) const {
  const auto* values = FindIn(lists, list);
  return values != nullptr &&
         std::ranges::find(*values, value) != values->end();
}

}  // namespace foretell
