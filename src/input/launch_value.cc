#include "input/launch_value.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <utility>
#include <vector>

#include "base/nearest.h"
#include "input/json.h"
#include "input/launch_flags.h"

namespace foretell {
namespace {

using Kind = LaunchFault::Kind;

// Deep enough for every configuration class; a launch line is short.
constexpr JsonLimits kLimits = {
    .depth = 24, .values = 20'000, .bytes = 1 << 20};

std::optional<int64_t> WholeNumber(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  if (text.starts_with('+')) text.remove_prefix(1);
  int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [next, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc() || next != end) return std::nullopt;
  return value;
}

std::optional<double> RealNumber(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [next, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc() || next != end) return std::nullopt;
  return value;
}

LaunchValue Faulty(Kind kind, std::string what, std::string why,
                   std::string fix = "") {
  LaunchValue out;
  out.fault = LaunchFault{.kind = kind,
                          .what = std::move(what),
                          .why = std::move(why),
                          .fix = std::move(fix),
                          .place = {},
                          .refuses = true};
  return out;
}

// A JSON object in braces, white space around it aside.
bool IsBraced(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  const size_t last = text.find_last_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{' &&
         text[last] == '}';
}

// Sizes outside strings become numbers: {"a": 32k}.
std::string ExpandSizes(const std::string& text) {
  std::string out;
  bool quoted = false;
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (quoted) {
      out += c;
      if (c == '\\' && i + 1 < text.size()) {
        out += text[i + 1];
        ++i;
      } else if (c == '"') {
        quoted = false;
      }
      ++i;
      continue;
    }
    const bool starts =
        c >= '0' && c <= '9' &&
        (i == 0 ||
         (std::isalnum(static_cast<unsigned char>(text[i - 1])) == 0 &&
          text[i - 1] != '.' && text[i - 1] != '_'));
    if (!starts) {
      quoted = c == '"';
      out += c;
      ++i;
      continue;
    }
    size_t end = i;
    while (end < text.size() &&
           ((text[end] >= '0' && text[end] <= '9') || text[end] == '.')) {
      ++end;
    }
    const bool suffixed =
        end < text.size() &&
        std::string_view("kKmMgGtT").find(text[end]) != std::string_view::npos;
    const auto size = suffixed ? ReadHumanSize(text.substr(i, end + 1 - i))
                               : std::optional<int64_t>();
    if (size) {
      out += std::to_string(*size);
      i = end + 1;
    } else {
      out += text.substr(i, end - i);
      i = end;
    }
  }
  return out;
}

LaunchValue ReadJsonValue(const std::string& text) {
  JsonResult read = ReadJson(text, "value", kLimits);
  if (read.error) {
    const Place& place = read.error->place;
    return Faulty(Kind::kJson,
                  fmt::format("is no JSON: {} at byte {}", read.error->what,
                              place.column),
                  "the value does not parse, and the launch ends",
                  "'{\"key\": \"value\"}', in single quotes");
  }
  return {.value = std::move(read.value), .fault = std::nullopt};
}

// The first key that the class, or a class inside it, does not have.
std::optional<LaunchFault> UnknownKey(const EngineFacts& facts,
                                      const std::string& class_name,
                                      const ConfigValue& value) {
  const auto found = facts.configs.find(class_name);
  if (found == facts.configs.end() || found->second.fields.empty()) {
    return std::nullopt;
  }
  if (!value.is_object()) {
    return Faulty(Kind::kJson,
                  fmt::format("is {}, and {} wants an object", value.KindName(),
                              class_name),
                  "its validation refuses it", "")
        .fault;
  }
  for (const auto& [key, inner] : value.members()) {
    const std::string* takes = found->second.Find(key);
    if (takes == nullptr) {
      std::vector<std::string_view> names;
      for (const auto& field : found->second.fields) {
        names.push_back(field.first);
      }
      const auto near = NearestNames(key, names, 1);
      return Faulty(Kind::kJson, fmt::format("{} has no {}", class_name, key),
                    "an unknown key is refused", near.empty() ? "" : near[0])
          .fault;
    }
    const size_t at = takes->find("config ");
    if (at != std::string::npos && inner.is_object()) {
      std::string name = takes->substr(at + 7);
      name = name.substr(0, name.find(','));
      if (auto fault = UnknownKey(facts, name, inner)) return fault;
    }
  }
  return std::nullopt;
}

LaunchValue ReadConfig(const EngineFacts& facts, const EngineFlag& flag,
                       const std::string& text) {
  const std::string class_name = flag.type.substr(7);
  // A whole number was a level until configurations became strict classes.
  if (facts.version < EngineVersion{0, 11, 0}) {
    if (const auto level = WholeNumber(text)) {
      ConfigValue value = ConfigValue::Object();
      value.Set("level", ConfigValue::Number(std::to_string(*level)));
      return {.value = std::move(value), .fault = std::nullopt};
    }
  }
  LaunchValue read = ReadJsonValue(ExpandSizes(text));
  if (read.fault) return read;
  if (auto fault = UnknownKey(facts, class_name, read.value)) {
    LaunchValue out;
    out.fault = std::move(fault);
    return out;
  }
  return read;
}

LaunchValue ReadPairs(const std::string& text) {
  if (IsBraced(text)) return ReadJsonValue(text);
  ConfigValue out = ConfigValue::Object();
  std::string_view rest = text;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(','), rest.size());
    const std::string_view item = rest.substr(0, end);
    const size_t equals = item.find('=');
    const auto number = equals == std::string_view::npos
                            ? std::optional<int64_t>()
                            : WholeNumber(item.substr(equals + 1));
    if (!number) {
      return Faulty(Kind::kValue, "is no list of name=count",
                    "the value does not parse", "image=2");
    }
    out.Set(item.substr(0, equals),
            ConfigValue::Number(std::to_string(*number)));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return {.value = std::move(out), .fault = std::nullopt};
}

LaunchValue ReadTyped(const EngineFacts& facts, const EngineFlag& flag,
                      const std::string& text) {
  const auto number = [&](std::optional<int64_t> value, const char* wanted) {
    if (!value) {
      return Faulty(Kind::kValue, fmt::format("is no {}", wanted),
                    fmt::format("it ends with \"invalid {} value\"", wanted),
                    fmt::format("{} {}", flag.flag, ExampleOf(flag)));
    }
    return LaunchValue{.value = ConfigValue::Number(std::to_string(*value)),
                       .fault = std::nullopt};
  };
  if (flag.type == "int") return number(WholeNumber(text), "int");
  if (flag.type == "size") return number(ReadHumanSize(text), "size");
  if (flag.type == "size_or_auto") {
    if (text == "-1" || text == "auto" || text == "AUTO" || text == "Auto") {
      return {.value = ConfigValue::Number("-1"), .fault = std::nullopt};
    }
    return number(ReadHumanSize(text), "size");
  }
  if (flag.type == "float") {
    if (!RealNumber(text)) return number(std::nullopt, "float");
    return {.value = ConfigValue::Number(text), .fault = std::nullopt};
  }
  if (flag.type == "json") {
    if (!IsBraced(text) && facts.version < EngineVersion{0, 10, 0}) {
      return ReadPairs(text);
    }
    return ReadJsonValue(text);
  }
  if (flag.type == "pairs") return ReadPairs(text);
  if (flag.type == "json_or_str" && IsBraced(text)) return ReadJsonValue(text);
  if (flag.type.starts_with("config:")) return ReadConfig(facts, flag, text);
  return {.value = ConfigValue::String(text), .fault = std::nullopt};
}

}  // namespace

std::optional<int64_t> ReadHumanSize(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  if (const auto plain = WholeNumber(text)) return plain;
  if (text.size() < 2) return std::nullopt;
  const char suffix = text.back();
  text.remove_suffix(1);
  constexpr std::string_view kDecimal = "kmgt";
  constexpr std::string_view kBinary = "KMGT";
  if (const size_t at = kDecimal.find(suffix); at != kDecimal.npos) {
    const auto value = RealNumber(text);
    if (!value || *value < 0) return std::nullopt;
    const double size = *value * std::pow(1000.0, static_cast<double>(at + 1));
    if (size > 9e18) return std::nullopt;
    return static_cast<int64_t>(size);
  }
  if (const size_t at = kBinary.find(suffix); at != kBinary.npos) {
    const auto value = WholeNumber(text);
    const int shift = static_cast<int>(10 * (at + 1));
    if (!value || *value < 0 || *value > (INT64_MAX >> shift)) {
      return std::nullopt;
    }
    return *value << shift;
  }
  return std::nullopt;
}

LaunchValue ReadLaunchValue(const EngineFacts& facts, const EngineFlag& flag,
                            const std::string& text) {
  if (flag.optional && (text.empty() || text == "None")) {
    return {.value = ConfigValue::Null(), .fault = std::nullopt};
  }
  std::string typed = text;
  if (flag.special == "lower_underscore") {
    for (char& c : typed) {
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
      if (c == '-') c = '_';
    }
  }
  LaunchValue read = ReadTyped(facts, flag, typed);
  if (read.fault || !flag.choices) return read;
  for (const ConfigValue& choice : *flag.choices) {
    if (choice == read.value) return read;
    if (choice.is_null() && text == "None") return read;
  }
  std::vector<std::string> texts;
  for (const ConfigValue& choice : *flag.choices) {
    texts.emplace_back(choice.AsString().value_or(choice.spelling()));
  }
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  const auto near = NearestNames(text, views, 1);
  return Faulty(Kind::kChoice,
                fmt::format("is none of {}", fmt::join(texts, ", ")),
                "it ends with \"invalid choice\"",
                near.empty() ? "" : fmt::format("{} {}", flag.flag, near[0]));
}

ConfigValue LooseValue(const std::string& text) {
  JsonResult read = ReadJson(text, "value", kLimits);
  if (!read.error) return std::move(read.value);
  if (const auto size = ReadHumanSize(text)) {
    return ConfigValue::Number(std::to_string(*size));
  }
  return ConfigValue::String(text);
}

ConfigValue ListOf(std::string_view text) {
  ConfigValue out = ConfigValue::Array();
  for (bool more = true; more;) {
    const size_t end = text.find(',');
    more = end != std::string_view::npos;
    out.mutable_items().push_back(
        ConfigValue::String(std::string(text.substr(0, end))));
    if (more) text.remove_prefix(end + 1);
  }
  return out;
}

void SetDotted(ConfigValue& object, std::string_view path, ConfigValue value) {
  ConfigValue* at = &object;
  for (size_t dot = path.find('.'); dot != std::string_view::npos;
       dot = path.find('.')) {
    const std::string_view key = path.substr(0, dot);
    ConfigValue* inner = at->Find(key);
    if (inner == nullptr || !inner->is_object()) {
      at->Set(key, ConfigValue::Object());
      inner = at->Find(key);
    }
    at = inner;
    path.remove_prefix(dot + 1);
  }
  ConfigValue* there = at->Find(path);
  if (there != nullptr && there->is_array() && value.is_array()) {
    for (ConfigValue& item : value.mutable_items()) {
      there->mutable_items().push_back(std::move(item));
    }
    return;
  }
  at->Set(path, std::move(value));
}

std::string ExampleOf(const EngineFlag& flag) {
  if (flag.choices && !flag.choices->empty()) {
    const ConfigValue& first = flag.choices->front();
    return std::string(first.AsString().value_or(first.spelling()));
  }
  if (flag.type == "int") return "2";
  if (flag.type == "float") return "0.9";
  if (flag.type == "size" || flag.type == "size_or_auto") return "8192";
  if (flag.type == "json" || flag.type.starts_with("config:")) {
    return "'{\"key\": 1}'";
  }
  return "VALUE";
}

}  // namespace foretell
