#include "spec/config_value.h"

#include <charconv>
#include <cmath>

#include "base/check.h"

namespace foretell {
namespace {

// JSON string escapes, as Python's json.dumps writes them for ASCII.
void AppendQuoted(std::string_view text, std::string& out) {
  static constexpr char kHex[] = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      out += "\\u00";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      out += c;
    }
  }
  out += '"';
}

void AppendJson(const ConfigValue& value, std::string& out) {
  switch (value.kind()) {
    case ConfigValue::Kind::kNull:
      out += "null";
      return;
    case ConfigValue::Kind::kBool:
      out += *value.AsBool() ? "true" : "false";
      return;
    case ConfigValue::Kind::kNumber:
      out += value.spelling();
      return;
    case ConfigValue::Kind::kString:
      AppendQuoted(value.spelling(), out);
      return;
    case ConfigValue::Kind::kArray: {
      out += '[';
      bool first = true;
      for (const ConfigValue& item : value.items()) {
        if (!first) out += ',';
        first = false;
        AppendJson(item, out);
      }
      out += ']';
      return;
    }
    case ConfigValue::Kind::kObject: {
      out += '{';
      bool first = true;
      for (const auto& [key, member] : value.members()) {
        if (!first) out += ',';
        first = false;
        AppendQuoted(key, out);
        out += ':';
        AppendJson(member, out);
      }
      out += '}';
      return;
    }
  }
}

}  // namespace

ConfigValue ConfigValue::Bool(bool value) {
  ConfigValue out;
  out.kind_ = Kind::kBool;
  out.bool_ = value;
  return out;
}

ConfigValue ConfigValue::Number(std::string spelling) {
  ConfigValue out;
  out.kind_ = Kind::kNumber;
  out.text_ = std::move(spelling);
  return out;
}

ConfigValue ConfigValue::String(std::string text) {
  ConfigValue out;
  out.kind_ = Kind::kString;
  out.text_ = std::move(text);
  return out;
}

ConfigValue ConfigValue::Array(std::vector<ConfigValue> items) {
  ConfigValue out;
  out.kind_ = Kind::kArray;
  out.items_ = std::move(items);
  return out;
}

ConfigValue ConfigValue::Object(std::vector<Member> members) {
  ConfigValue out;
  out.kind_ = Kind::kObject;
  out.members_ = std::move(members);
  return out;
}

std::string_view ConfigValue::KindName() const {
  switch (kind_) {
    case Kind::kNull:
      return "null";
    case Kind::kBool:
      return "true or false";
    case Kind::kNumber:
      return "a number";
    case Kind::kString:
      return "a string";
    case Kind::kArray:
      return "an array";
    case Kind::kObject:
      return "an object";
  }
  FailCheck(__FILE__, __LINE__, "kind", "a value without a kind");
}

std::optional<bool> ConfigValue::AsBool() const {
  if (kind_ != Kind::kBool) return std::nullopt;
  return bool_;
}

std::optional<int64_t> ConfigValue::AsInteger() const {
  if (kind_ != Kind::kNumber) return std::nullopt;
  int64_t whole = 0;
  const char* end = text_.data() + text_.size();
  const auto [stop, error] = std::from_chars(text_.data(), end, whole);
  if (error == std::errc() && stop == end) return whole;
  const auto real = AsReal();
  // Up to 2^53 every whole number has its own double.
  constexpr double kLargest = 9007199254740992.0;
  if (!real || std::floor(*real) != *real || std::abs(*real) > kLargest) {
    return std::nullopt;
  }
  return static_cast<int64_t>(*real);
}

std::optional<double> ConfigValue::AsReal() const {
  if (kind_ != Kind::kNumber) return std::nullopt;
  double real = 0;
  const char* end = text_.data() + text_.size();
  const auto [stop, error] = std::from_chars(text_.data(), end, real);
  if (error != std::errc() || stop != end) return std::nullopt;
  return real;
}

std::optional<std::string_view> ConfigValue::AsString() const {
  if (kind_ != Kind::kString) return std::nullopt;
  return text_;
}

const ConfigValue* ConfigValue::Find(std::string_view key) const {
  for (const auto& [name, value] : members_) {
    if (name == key) return &value;
  }
  return nullptr;
}

ConfigValue* ConfigValue::Find(std::string_view key) {
  for (auto& [name, value] : members_) {
    if (name == key) return &value;
  }
  return nullptr;
}

void ConfigValue::Set(std::string_view key, ConfigValue value) {
  FORETELL_CHECK(is_object(), "a member of a value that is no object");
  if (ConfigValue* old = Find(key)) {
    *old = std::move(value);
    return;
  }
  members_.emplace_back(std::string(key), std::move(value));
}

std::string ConfigValue::ToJson() const {
  std::string out;
  AppendJson(*this, out);
  return out;
}

bool operator==(const ConfigValue& a, const ConfigValue& b) {
  return a.kind_ == b.kind_ && a.bool_ == b.bool_ && a.text_ == b.text_ &&
         a.items_ == b.items_ && a.members_ == b.members_;
}

}  // namespace foretell
