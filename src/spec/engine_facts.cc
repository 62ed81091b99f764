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

void EngineFacts::IndexFlags() {
  // Since 0.33 --enable-x and --disable-x name each other
  // (vllm/utils/argparse_utils.py, EnableDisableAction).
  const bool pairs = version >= EngineVersion{0, 33, 0};
  constexpr std::string_view kEnable = "--enable-";
  constexpr std::string_view kDisable = "--disable-";
  for (size_t i = 0; i < flags.size(); ++i) {
    const EngineFlag& flag = flags[i];
    settings.try_emplace(flag.dest, i);
    std::vector<std::string> names = flag.also;
    names.push_back(flag.flag);
    for (const std::string& name : names) {
      spellings[name] = {i, false};
      if (flag.type != "bool" || !name.starts_with("--")) continue;
      spellings["--no-" + name.substr(2)] = {i, true};
      if (!pairs) continue;
      if (name.starts_with(kEnable)) {
        spellings.try_emplace(
            std::string(kDisable) + name.substr(kEnable.size()),
            FlagSpelling{i, true});
      } else if (name.starts_with(kDisable)) {
        spellings.try_emplace(
            std::string(kEnable) + name.substr(kDisable.size()),
            FlagSpelling{i, true});
      }
    }
  }
}

const EngineFlag* EngineFacts::FindFlag(std::string_view name) const {
  const auto found = spellings.find(name);
  return found == spellings.end() || found->second.negative
             ? nullptr
             : &flags[found->second.flag];
}

const EngineFlag* EngineFacts::FindSetting(std::string_view dest) const {
  const auto found = settings.find(dest);
  return found == settings.end() ? nullptr : &flags[found->second];
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
