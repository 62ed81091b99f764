#include "input/engine_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "data/embedded.h"
#include "input/json.h"

namespace foretell {
namespace {

constexpr char kTransformers[] = "engines/transformers.jsonl";

std::string FileOf(ServingEngine engine) {
  return fmt::format("engines/{}.jsonl", NameOf(engine));
}

template <typename Each>
void ForEachLine(std::string_view file, const Each& each) {
  while (!file.empty()) {
    const size_t end = std::min(file.find('\n'), file.size());
    if (end > 0) each(file.substr(0, end));
    file.remove_prefix(std::min(end + 1, file.size()));
  }
}

// The text of `"key":"…"` in a line that tools/engines wrote.
std::string_view TextOf(std::string_view line, std::string_view key) {
  const size_t at = line.find(key);
  if (at == std::string_view::npos) return "";
  line.remove_prefix(at + key.size());
  return line.substr(0, line.find('"'));
}

bool Holds(std::string_view line, const EngineVersion& version) {
  const auto since = ParseEngineVersion(TextOf(line, "\"since\":\""));
  if (!since || *since > version) return false;
  const auto until = ParseEngineVersion(TextOf(line, "\"until\":\""));
  return !until || version < *until;
}

std::string Text(const ConfigValue& row, std::string_view key) {
  const ConfigValue* found = row.Find(key);
  return found == nullptr ? "" : std::string(found->AsString().value_or(""));
}

bool Truth(const ConfigValue& row, std::string_view key) {
  const ConfigValue* found = row.Find(key);
  return found != nullptr && found->AsBool().value_or(false);
}

std::vector<std::string> Texts(const ConfigValue& row, std::string_view key) {
  std::vector<std::string> out;
  if (const ConfigValue* found = row.Find(key)) {
    for (const ConfigValue& item : found->items()) {
      out.emplace_back(item.AsString().value_or(item.spelling()));
    }
  }
  return out;
}

std::vector<std::string> Words(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    if (end > 0) out.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

EngineFlag FlagOf(const ConfigValue& row) {
  EngineFlag flag;
  flag.flag = Text(row, "flag");
  flag.also = Texts(row, "also");
  flag.dest = Text(row, "dest");
  flag.type = Text(row, "type");
  if (const ConfigValue* many = row.Find("many")) {
    flag.many =
        many->AsString() ? std::string(*many->AsString()) : many->spelling();
  }
  flag.optional = Truth(row, "optional");
  flag.deprecated = Truth(row, "deprecated");
  flag.special = Text(row, "special");
  const ConfigValue* choices = row.Find("choices");
  if (choices != nullptr && choices->is_array())
    flag.choices = choices->items();
  if (const ConfigValue* value = row.Find("default")) {
    flag.default_value = *value;
  }
  return flag;
}

void AddQuantization(const ConfigValue& row, EngineFacts& facts) {
  EngineQuantization one;
  one.name = Text(row, "quant");
  one.class_name = Text(row, "class");
  if (const ConfigValue* least = row.Find("capability")) {
    one.capability = least->AsInteger();
  }
  one.dtypes = Texts(row, "dtypes");
  one.files = Texts(row, "files");
  one.deprecated = Truth(row, "deprecated");
  facts.quantizations.push_back(std::move(one));
}

void AddRow(const ConfigValue& row, EngineFacts& facts) {
  if (row.Find("flag") != nullptr) {
    facts.flags.push_back(FlagOf(row));
  } else if (row.Find("arch") != nullptr) {
    EngineArchitecture one;
    one.name = Text(row, "arch");
    one.class_name = Text(row, "class");
    one.group = Text(row, "group");
    one.facts = Words(Text(row, "facts"));
    std::string name = one.name;
    facts.architectures.insert_or_assign(std::move(name), std::move(one));
  } else if (row.Find("gone") != nullptr) {
    facts.gone[Text(row, "gone")] = {Text(row, "last"), Text(row, "plugin")};
  } else if (row.Find("quant") != nullptr) {
    AddQuantization(row, facts);
  } else if (row.Find("list") != nullptr) {
    facts.lists[Text(row, "list")] = Texts(row, "values");
  } else if (row.Find("config") != nullptr) {
    EngineConfigClass one;
    for (std::string& field : Texts(row, "fields")) {
      const size_t colon = field.find(':');
      if (colon == std::string::npos) continue;
      one.fields.emplace_back(field.substr(0, colon), field.substr(colon + 1));
    }
    facts.configs[Text(row, "config")] = std::move(one);
  }
}

std::vector<std::pair<std::string, std::string>> TextMembers(
    const ConfigValue& row, std::string_view key) {
  std::vector<std::pair<std::string, std::string>> out;
  if (const ConfigValue* found = row.Find(key)) {
    for (const auto& [name, value] : found->members()) {
      out.emplace_back(name, std::string(value.AsString().value_or("")));
    }
  }
  return out;
}

// The described library whose release is nearest to what the engine asks for:
// the same major version.
bool IsLibrary(std::string_view library, std::string_view wanted) {
  return library.substr(0, 1) == wanted.substr(0, 1);
}

// "vllm 0.19.0" against the version: the nearest that is not newer, else any.
std::string OwnTag(std::string_view file, const EngineVersion& version) {
  std::string best;
  EngineVersion best_version;
  std::string first;
  ForEachLine(file, [&](std::string_view line) {
    const std::string_view tag = TextOf(line, "\"library\":\"vllm ");
    if (tag.empty() || tag == first || tag == best) return;
    const auto own = ParseEngineVersion(tag);
    if (!own) return;
    if (first.empty()) first = tag;
    if (*own <= version && (best.empty() || *own > best_version)) {
      best = tag;
      best_version = *own;
    }
  });
  return best.empty() ? first : best;
}

void AddLibrary(EngineFacts& facts) {
  const std::string_view file = Embedded(kTransformers);
  const std::string own = "vllm " + OwnTag(file, facts.version);
  const auto installed = ParseEngineVersion(facts.library);
  ForEachLine(file, [&](std::string_view line) {
    const std::string_view backend = TextOf(line, "\"backend\":\"");
    const std::string_view library = TextOf(line, "\"library\":\"");
    const bool is_own = library == own;
    if (!is_own &&
        !IsLibrary(library.empty() ? backend : library, facts.library)) {
      return;
    }
    if (!is_own && library.starts_with("vllm")) return;
    // A type that came after the release that this version is installed with.
    const auto after = ParseEngineVersion(TextOf(line, "\"after\":\""));
    if (after && installed && *installed <= *after) return;
    const ConfigValue row = ParseJson(std::string(line), kTransformers);
    if (!backend.empty()) {
      for (std::string& name : Texts(row, "classes")) {
        facts.backend_classes.insert(std::move(name));
      }
      for (std::string& name : Texts(row, "settable")) {
        facts.settable_classes.insert(std::move(name));
      }
      return;
    }
    ConfigClassFacts one;
    one.class_name = Text(row, "class");
    if (const ConfigValue* has = row.Find("has")) one.has = has->members();
    one.map = TextMembers(row, "map");
    one.sub = TextMembers(row, "sub");
    one.own = Truth(row, "own");
    one.nested = Truth(row, "nested");
    // The engine's own class stands before the library's.
    const std::string name = Text(row, "model_type");
    const auto there = facts.model_types.find(name);
    if (there == facts.model_types.end() || (one.own && !one.nested)) {
      facts.model_types.insert_or_assign(name, std::move(one));
    }
  });
}

}  // namespace

std::vector<EngineVersion> DescribedVersions(ServingEngine engine) {
  std::vector<EngineVersion> out;
  ForEachLine(Embedded(FileOf(engine)), [&](std::string_view line) {
    if (!line.starts_with("{\"version\":\"")) return;
    if (const auto one = ParseEngineVersion(TextOf(line, "\"version\":\""))) {
      out.push_back(*one);
    }
  });
  std::ranges::sort(out);
  return out;
}

EngineFacts ReadEngineFacts(ServingEngine engine,
                            const EngineVersion& version) {
  EngineFacts facts;
  facts.engine = engine;
  const std::vector<EngineVersion> described = DescribedVersions(engine);
  if (described.empty()) return facts;
  facts.version = described.front();
  for (const EngineVersion& one : described) {
    if (one <= version) facts.version = one;
  }
  const std::string file = FileOf(engine);
  ForEachLine(Embedded(file), [&](std::string_view line) {
    if (line.starts_with("{\"version\":\"")) {
      const auto one = ParseEngineVersion(TextOf(line, "\"version\":\""));
      if (!one || *one != facts.version) return;
      const ConfigValue row = ParseJson(std::string(line), file);
      facts.date = Text(row, "date");
      facts.source = Text(row, "source");
      facts.library = Text(row, "library");
      return;
    }
    if (Holds(line, facts.version)) {
      AddRow(ParseJson(std::string(line), file), facts);
      return;
    }
    const std::string_view flag = TextOf(line, "{\"flag\":\"");
    if (flag.empty()) return;
    const auto since = ParseEngineVersion(TextOf(line, "\"since\":\""));
    const auto until = ParseEngineVersion(TextOf(line, "\"until\":\""));
    if (since) facts.other_flags.push_back({std::string(flag), *since, until});
  });
  AddLibrary(facts);
  facts.IndexFlags();
  return facts;
}

}  // namespace foretell
