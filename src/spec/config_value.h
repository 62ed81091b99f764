// A configuration as it was written: a tree of values that know their place.
//
// `input` makes it from JSON; families read it through `ConfigView`. Numbers
// keep their spelling, so that an integer past 2^63 is seen as what it is.
// Keys keep their order. A key given twice keeps its last value, as Python's
// json does, and the earlier place is listed by the reader.
#ifndef FORETELL_SPEC_CONFIG_VALUE_H_
#define FORETELL_SPEC_CONFIG_VALUE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace foretell {

class ConfigValue {
 public:
  enum class Kind : uint8_t {
    kNull,
    kBool,
    kNumber,
    kString,
    kArray,
    kObject,
  };
  using Member = std::pair<std::string, ConfigValue>;

  ConfigValue() = default;
  static ConfigValue Null() { return {}; }
  static ConfigValue Bool(bool value);
  // `spelling` is a JSON number, or NaN, Infinity, -Infinity as Python writes.
  static ConfigValue Number(std::string spelling);
  static ConfigValue String(std::string text);
  static ConfigValue Array(std::vector<ConfigValue> items = {});
  static ConfigValue Object(std::vector<Member> members = {});

  Kind kind() const { return kind_; }
  std::string_view KindName() const;  // "a string", "an array", …
  bool is_null() const { return kind_ == Kind::kNull; }
  bool is_object() const { return kind_ == Kind::kObject; }
  bool is_array() const { return kind_ == Kind::kArray; }
  bool is_string() const { return kind_ == Kind::kString; }
  bool is_number() const { return kind_ == Kind::kNumber; }

  std::optional<bool> AsBool() const;
  // A whole number: "4096", also "4096.0" and "4.096e3"; nothing past 2^63-1.
  std::optional<int64_t> AsInteger() const;
  std::optional<double> AsReal() const;
  std::optional<std::string_view> AsString() const;

  const std::string& spelling() const { return text_; }  // numbers, strings
  const std::vector<ConfigValue>& items() const { return items_; }
  const std::vector<Member>& members() const { return members_; }
  std::vector<ConfigValue>& mutable_items() { return items_; }
  std::vector<Member>& mutable_members() { return members_; }

  // The member of that name, or null where this is no object or lacks it.
  const ConfigValue* Find(std::string_view key) const;
  ConfigValue* Find(std::string_view key);
  // Replaces or appends; a check fails where this is no object.
  void Set(std::string_view key, ConfigValue value);

  // Offset of the value's first byte in its source; -1 where it has none.
  int64_t offset() const { return offset_; }
  void set_offset(int64_t offset) { offset_ = offset; }

  // Compact JSON, keys in order; for messages and tests.
  std::string ToJson() const;

  // Values, kinds and key order; not places.
  friend bool operator==(const ConfigValue& a, const ConfigValue& b);

 private:
  Kind kind_ = Kind::kNull;
  bool bool_ = false;
  std::string text_;
  std::vector<ConfigValue> items_;
  std::vector<Member> members_;
  int64_t offset_ = -1;
};

}  // namespace foretell

#endif  // FORETELL_SPEC_CONFIG_VALUE_H_
