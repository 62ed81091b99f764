#include "input/overrides.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "input/json.h"
#include "spec/model_config.h"

namespace foretell {
namespace {

constexpr std::string_view kSpace = " \t\r\n";
// Nested configurations go three deep ("thinker_config.text_config.rope_…").
constexpr int64_t kMostSteps = 16;
// The longest recorded list has two items.
constexpr size_t kMostItems = 1000;

std::string Trimmed(std::string_view text) {
  const size_t start = text.find_first_not_of(kSpace);
  if (start == std::string_view::npos) return "";
  return std::string(
      text.substr(start, text.find_last_not_of(kSpace) - start + 1));
}

// A value that came with a change has no place in the configuration's text.
void ForgetOffsets(ConfigValue& value) {
  value.set_offset(-1);
  for (ConfigValue& item : value.mutable_items()) ForgetOffsets(item);
  for (auto& [key, member] : value.mutable_members()) ForgetOffsets(member);
}

// "rope_parameters.rope_type" as its two steps.
std::vector<std::string> Steps(const std::string& key) {
  std::vector<std::string> steps;
  for (size_t start = 0; start <= key.size();) {
    const size_t dot = std::min(key.find('.', start), key.size());
    steps.push_back(key.substr(start, dot - start));
    start = dot + 1;
  }
  return steps;
}

class OverrideReader {
 public:
  OverrideReader(const std::string& text, const std::string& source)
      : text_(text), source_(source) {}

  OverridesResult Read() {
    if (Trimmed(text_).empty() || text_ == "none") return std::move(result_);
    while (ReadItem() && ReadComma()) {
    }
    if (result_.error) result_.overrides.clear();
    return std::move(result_);
  }

 private:
  bool Fail(size_t at, std::string what, std::string cure) {
    result_.error = {PlaceAt(text_, static_cast<int64_t>(at), source_, ""),
                     std::move(what), std::move(cure)};
    return false;
  }

  void SkipSpace() {
    at_ = std::min(text_.find_first_not_of(kSpace, at_), text_.size());
  }

  bool CheckKey(size_t start, const std::string& key) {
    if (key.empty()) {
      return Fail(start, "a key is missing here",
                  "write KEY=VALUE, or -KEY to take a key out");
    }
    if (key.front() == '.' || key.back() == '.' ||
        key.find("..") != std::string::npos) {
      return Fail(start, fmt::format("{} has an empty step", key),
                  "write one name on each side of a dot");
    }
    if (std::ranges::count(key, '.') >= kMostSteps) {
      return Fail(start,
                  fmt::format("the key has more than {} steps", kMostSteps),
                  "check the key: no configuration is so deep");
    }
    if (result_.overrides.size() >= kMostItems) {
      return Fail(start, fmt::format("more than {} changes", kMostItems),
                  "change the configuration's file instead");
    }
    return true;
  }

  // "KEY=VALUE" or "-KEY".
  bool ReadItem() {
    SkipSpace();
    const size_t start = at_;
    const bool remove = at_ < text_.size() && text_[at_] == '-';
    if (remove) ++at_;
    const size_t end = std::min(text_.find_first_of("=,", at_), text_.size());
    const std::string key = Trimmed(text_.substr(at_, end - at_));
    if (!CheckKey(start, key)) return false;
    Override item;
    item.path = Steps(key);
    item.offset = static_cast<int64_t>(start);
    at_ = end;
    const bool has_value = at_ < text_.size() && text_[at_] == '=';
    if (remove && has_value) {
      return Fail(start,
                  fmt::format("-{} takes the key out and has no value", key),
                  "remove the minus, or the value");
    }
    if (!remove && !has_value) {
      return Fail(
          start, fmt::format("{} has no value", key),
          fmt::format("write {}=VALUE, or -{} to take the key out", key, key));
    }
    if (has_value && !ReadValue(key, item)) return false;
    result_.overrides.push_back(std::move(item));
    return true;
  }

  bool ReadValue(const std::string& key, Override& item) {
    ++at_;
    SkipSpace();
    if (at_ == text_.size() || text_[at_] == ',') {
      return Fail(at_, fmt::format("{} has no value", key),
                  "write a value in JSON: 2, true, null, \"text\"");
    }
    auto offset = static_cast<int64_t>(at_);
    JsonResult value = ReadJsonPrefix(text_, source_, &offset);
    if (value.error) {
      result_.error = std::move(value.error);
      result_.error->place.key = key;
      return false;
    }
    at_ = static_cast<size_t>(offset);
    ForgetOffsets(value.value);
    item.value = std::move(value.value);
    return true;
  }

  // Whether another item follows.
  bool ReadComma() {
    SkipSpace();
    if (at_ == text_.size()) return false;
    if (text_[at_] != ',') {
      return Fail(at_, "neither a comma nor the end follows the value",
                  "divide the changes by commas; write text in double quotes");
    }
    ++at_;
    return true;
  }

  const std::string& text_;
  const std::string& source_;
  size_t at_ = 0;
  OverridesResult result_;
};

}  // namespace

OverridesResult ReadOverrides(const std::string& text,
                              const std::string& source) {
  return OverrideReader(text, source).Read();
}

std::vector<Override> ParseOverrides(const std::string& text,
                                     const std::string& source) {
  OverridesResult result = ReadOverrides(text, source);
  if (result.error) throw InputErrors(std::move(*result.error));
  return std::move(result.overrides);
}

}  // namespace foretell
