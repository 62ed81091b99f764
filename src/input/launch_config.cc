#include "input/launch_config.h"

#include <fmt/format.h>
#include <yaml.h>

#include <memory>
#include <string_view>
#include <utility>

#include "base/input_error.h"
#include "spec/config_value.h"

namespace foretell {
namespace {

constexpr int kMostDepth = 24;
constexpr int kMostValues = 4096;

class YamlReader {
 public:
  YamlReader(const std::string& bytes, const std::string& source)
      : bytes_(&bytes), source_(&source) {
    if (yaml_parser_initialize(&parser_) == 0) {
      Fail("memory for the YAML parser is lacking", "try again");
    }
    const void* const data = bytes.data();
    yaml_parser_set_input_string(
        &parser_, static_cast<const unsigned char*>(data), bytes.size());
  }
  YamlReader(const YamlReader&) = delete;
  YamlReader& operator=(const YamlReader&) = delete;
  ~YamlReader() { yaml_parser_delete(&parser_); }

  ConfigValue Document() {
    Next();  // the stream
    Next();
    if (event_->type == YAML_STREAM_END_EVENT) return ConfigValue::Object();
    Next();
    return Value(0);
  }

 private:
  struct Release {
    void operator()(yaml_event_t* event) const {
      yaml_event_delete(event);
      delete event;
    }
  };

  [[noreturn]] void Fail(std::string what, std::string cure) const {
    const yaml_mark_t& mark =
        event_ != nullptr ? event_->start_mark : parser_.problem_mark;
    throw InputErrors(InputError{
        PlaceAt(*bytes_,
                static_cast<int64_t>(std::min(mark.index, bytes_->size())),
                *source_, ""),
        std::move(what), std::move(cure)});
  }

  void Next() {
    auto event = std::make_unique<yaml_event_t>();
    if (yaml_parser_parse(&parser_, event.get()) == 0) {
      event_ = nullptr;
      Fail(fmt::format("is no YAML: {}", parser_.problem == nullptr
                                             ? "it does not parse"
                                             : parser_.problem),
           "write one `key: value` a line");
    }
    event_ = std::unique_ptr<yaml_event_t, Release>(event.release());
  }

  ConfigValue Value(int depth) {
    if (depth > kMostDepth || ++values_ > kMostValues) {
      Fail("holds too much", "a launch needs a few keys");
    }
    switch (event_->type) {
      case YAML_SCALAR_EVENT:
        return Scalar();
      case YAML_SEQUENCE_START_EVENT: {
        ConfigValue out = ConfigValue::Array();
        for (Next(); event_->type != YAML_SEQUENCE_END_EVENT; Next()) {
          out.mutable_items().push_back(Value(depth + 1));
        }
        return out;
      }
      case YAML_MAPPING_START_EVENT: {
        ConfigValue out = ConfigValue::Object();
        for (Next(); event_->type != YAML_MAPPING_END_EVENT; Next()) {
          if (event_->type != YAML_SCALAR_EVENT) {
            Fail("a key is no text", "write `key: value`");
          }
          const std::string key = Text();
          Next();
          out.Set(key, Value(depth + 1));
        }
        return out;
      }
      default:
        Fail("an alias or a tag is not read", "write the value itself");
    }
  }

  std::string Text() const {
    const void* const data = event_->data.scalar.value;
    return {static_cast<const char*>(data), event_->data.scalar.length};
  }

  // YAML 1.1's plain words, as Python's safe_load takes them.
  ConfigValue Scalar() const {
    std::string text = Text();
    if (event_->data.scalar.style != YAML_PLAIN_SCALAR_STYLE) {
      return ConfigValue::String(std::move(text));
    }
    for (const std::string_view word :
         {"true", "True", "TRUE", "yes", "Yes", "on", "On"}) {
      if (text == word) return ConfigValue::Bool(true);
    }
    for (const std::string_view word :
         {"false", "False", "FALSE", "no", "No", "off", "Off"}) {
      if (text == word) return ConfigValue::Bool(false);
    }
    if (text.empty() || text == "null" || text == "~" || text == "Null") {
      return ConfigValue::Null();
    }
    const bool digits =
        text.find_first_not_of("-+0123456789.eE") == std::string::npos &&
        text.find_first_of("0123456789") != std::string::npos &&
        text.front() != '.' && text.back() != '.' && text.front() != '+';
    if (digits && ConfigValue::Number(text).AsReal()) {
      return ConfigValue::Number(std::move(text));
    }
    return ConfigValue::String(std::move(text));
  }

  const std::string* bytes_;
  const std::string* source_;
  yaml_parser_t parser_ = {};
  std::unique_ptr<yaml_event_t, Release> event_;
  int values_ = 0;
};

std::string Plain(const ConfigValue& value) {
  if (value.is_null()) return "None";
  if (const auto truth = value.AsBool()) return *truth ? "True" : "False";
  if (const auto text = value.AsString()) return std::string(*text);
  return value.spelling();
}

}  // namespace

std::vector<LaunchWord> ReadLaunchConfig(const std::string& bytes,
                                         const std::string& source,
                                         const EngineFacts& facts) {
  const ConfigValue root = YamlReader(bytes, source).Document();
  if (!root.is_object()) {
    Place place;
    place.source = source;
    throw InputErrors(InputError{std::move(place), "is no list of flags",
                                 "write one `key: value` a line"});
  }
  std::vector<LaunchWord> out;
  const auto add = [&](std::string text, const std::string& key) {
    LaunchWord word;
    word.text = std::move(text);
    word.place.source = source;
    word.place.key = key;
    out.push_back(std::move(word));
  };
  for (const auto& [key, value] : root.members()) {
    const std::string flag = "--" + key;
    if (const auto truth = value.AsBool()) {
      std::string dashed = flag;
      for (size_t i = 2; i < dashed.size(); ++i) {
        if (dashed[i] == '_') dashed[i] = '-';
      }
      const EngineFlag* row = facts.FindFlag(dashed);
      if (*truth) {
        add(flag, key);
      } else if (row != nullptr && row->type == "bool") {
        add("--no-" + key, key);
      }
      continue;
    }
    if (value.is_array() && value.items().empty()) continue;
    add(flag, key);
    if (value.is_array()) {
      for (const ConfigValue& item : value.items()) add(Plain(item), key);
    } else if (value.is_object()) {
      add(value.ToJson(), key);
    } else {
      add(Plain(value), key);
    }
  }
  return out;
}

}  // namespace foretell
