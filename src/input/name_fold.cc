#include "input/name_fold.h"

#include <algorithm>
#include <charconv>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace foretell {
namespace {

constexpr std::string_view kFold = "#fold";
// Shorter lists are read more easily as they are.
constexpr size_t kShortest = 8;
// Longer numbers are no indices.
constexpr size_t kMostDigits = 6;
// A name with more numbers than this has no known reason.
constexpr size_t kMostNumbers = 8;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// A name taken apart: texts[0] range texts[1] range … texts[n].
struct Pattern {
  struct Range {
    int64_t first = 0;
    int64_t last = 0;
    friend bool operator==(const Range&, const Range&) = default;
  };
  std::vector<std::string> texts;
  std::vector<Range> ranges;
  const ConfigValue* value = nullptr;  // of a member; null for an array's item

  std::string ToString() const {
    std::string out = texts.front();
    for (size_t i = 0; i < ranges.size(); ++i) {
      const auto [first, last] = ranges[i];
      out += first == last ? std::to_string(first)
                           : "{" + std::to_string(first) + "-" +
                                 std::to_string(last) + "}";
      out += texts[i + 1];
    }
    return out;
  }
};

// "0" and numbers that do not begin with 0: those that std::to_string gives
// back. Anything else stays text.
bool IsNumber(std::string_view digits) {
  return digits.size() <= kMostDigits &&
         (digits.front() != '0' || digits.size() == 1);
}

Pattern Split(std::string_view name) {
  Pattern out;
  out.texts.emplace_back();
  for (size_t i = 0; i < name.size();) {
    size_t end = i;
    while (end < name.size() && IsDigit(name[end])) ++end;
    if (end == i) {
      out.texts.back() += name[i++];
      continue;
    }
    const std::string_view digits = name.substr(i, end - i);
    i = end;
    if (!IsNumber(digits) || out.ranges.size() == kMostNumbers) {
      out.texts.back() += digits;
      continue;
    }
    int64_t number = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), number);
    out.ranges.push_back({number, number});
    out.texts.emplace_back();
  }
  return out;
}

// Whether `next` continues `last` at `position`, all else being equal.
bool Continues(const Pattern& last, const Pattern& next, size_t position) {
  if (last.texts != next.texts || position >= last.ranges.size() ||
      next.ranges[position].first != last.ranges[position].last + 1) {
    return false;
  }
  for (size_t i = 0; i < last.ranges.size(); ++i) {
    if (i != position && last.ranges[i] != next.ranges[i]) return false;
  }
  return (last.value == nullptr) == (next.value == nullptr) &&
         (last.value == nullptr || *last.value == *next.value);
}

// From the last number to the first, so that later ranges lie inside earlier.
std::vector<Pattern> Folded(std::vector<Pattern> patterns) {
  for (size_t position = kMostNumbers; position-- > 0;) {
    std::vector<Pattern> merged;
    for (Pattern& pattern : patterns) {
      if (!merged.empty() && Continues(merged.back(), pattern, position)) {
        merged.back().ranges[position].last = pattern.ranges[position].last;
      } else {
        merged.push_back(std::move(pattern));
      }
    }
    patterns = std::move(merged);
  }
  return patterns;
}

bool HasBrace(std::string_view text) {
  return text.find_first_of("{}") != std::string_view::npos;
}

std::optional<std::vector<Pattern>> PatternsOf(const ConfigValue& value) {
  std::vector<Pattern> patterns;
  for (const ConfigValue& item : value.items()) {
    if (!item.is_string() || HasBrace(item.spelling())) return std::nullopt;
    patterns.push_back(Split(item.spelling()));
  }
  for (const auto& [key, member] : value.members()) {
    if (HasBrace(key)) return std::nullopt;
    patterns.push_back(Split(key));
    patterns.back().value = &member;
  }
  return patterns;
}

std::optional<ConfigValue> Fold(const ConfigValue& value) {
  const size_t before = value.items().size() + value.members().size();
  if (before < kShortest) return std::nullopt;
  auto patterns = PatternsOf(value);
  if (!patterns) return std::nullopt;
  const std::vector<Pattern> folded = Folded(std::move(*patterns));
  if (folded.size() * 2 > before) return std::nullopt;
  ConfigValue list = ConfigValue::Array();
  for (const Pattern& pattern : folded) {
    ConfigValue name = ConfigValue::String(pattern.ToString());
    if (pattern.value == nullptr) {
      list.mutable_items().push_back(std::move(name));
    } else {
      list.mutable_items().push_back(
          ConfigValue::Array({std::move(name), *pattern.value}));
    }
  }
  return ConfigValue::Object({{std::string(kFold), std::move(list)}});
}

// "3-59}…" after the brace; nothing where it is no range.
std::optional<Pattern::Range> RangeAt(std::string_view text, size_t* length) {
  const size_t end = text.find('}');
  const size_t dash = text.find('-');
  if (end == std::string_view::npos || dash > end) return std::nullopt;
  Pattern::Range range;
  const char* middle = text.data() + dash;
  const char* last = text.data() + end;
  const auto [stop1, error1] =
      std::from_chars(text.data(), middle, range.first);
  const auto [stop2, error2] = std::from_chars(middle + 1, last, range.last);
  if (error1 != std::errc() || error2 != std::errc() || stop1 != middle ||
      stop2 != last || range.first < 0 || range.last < range.first) {
    return std::nullopt;
  }
  *length = end + 1;
  return range;
}

// What a value costs beside its text, roughly: its own size in memory.
constexpr int64_t kValueBytes = 100;

// Appends the names that `name` stands for; each takes its bytes and `cost`
// from `left`.
bool Unfold(std::string_view name, const std::string& before, int64_t cost,
            int64_t* left, std::vector<std::string>& out) {
  const size_t brace = name.find('{');
  if (brace == std::string_view::npos) {
    *left -= static_cast<int64_t>(before.size() + name.size()) + cost;
    if (*left < 0) return false;
    out.push_back(before + std::string(name));
    return true;
  }
  size_t length = 0;
  const auto range = RangeAt(name.substr(brace + 1), &length);
  if (!range) return false;
  const std::string head = before + std::string(name.substr(0, brace));
  const std::string_view rest = name.substr(brace + 1 + length);
  if (std::ranges::count(rest, '{') >= static_cast<int64_t>(kMostNumbers)) {
    return false;
  }
  for (int64_t i = range->first; i <= range->last; ++i) {
    if (!Unfold(rest, head + std::to_string(i), cost, left, out)) return false;
  }
  return true;
}

// Of {"#fold": […]} its list, else null.
const ConfigValue* FoldOf(const ConfigValue& value) {
  if (value.members().size() != 1) return nullptr;
  return value.Find(kFold);
}

class Unfolder {
 public:
  std::optional<ConfigValue> Unfolded(const ConfigValue& value) {
    if (const ConfigValue* list = FoldOf(value)) return FromList(*list);
    ConfigValue out = value;
    for (ConfigValue& item : out.mutable_items()) {
      auto unfolded = Unfolded(item);
      if (!unfolded) return std::nullopt;
      item = std::move(*unfolded);
    }
    for (auto& [key, member] : out.mutable_members()) {
      auto unfolded = Unfolded(member);
      if (!unfolded) return std::nullopt;
      member = std::move(*unfolded);
    }
    return out;
  }

 private:
  std::optional<ConfigValue> FromList(const ConfigValue& list) {
    const std::vector<ConfigValue>& items = list.items();
    if (items.empty()) return std::nullopt;
    const bool object = items.front().is_array();
    ConfigValue out = object ? ConfigValue::Object() : ConfigValue::Array();
    for (const ConfigValue& item : items) {
      const std::span<const ConfigValue> pair =
          object ? std::span(item.items()) : std::span(&item, 1);
      if (pair.size() != (object ? 2 : 1) || !pair[0].is_string()) {
        return std::nullopt;
      }
      const int64_t cost =
          kValueBytes +
          (object ? static_cast<int64_t>(pair[1].ToJson().size()) * 5 : 0);
      std::vector<std::string> names;
      if (!Unfold(pair[0].spelling(), "", cost, &left_, names)) {
        return std::nullopt;
      }
      for (std::string& name : names) {
        if (object) {
          out.mutable_members().emplace_back(std::move(name), pair[1]);
        } else {
          out.mutable_items().push_back(ConfigValue::String(std::move(name)));
        }
      }
    }
    return out;
  }

  int64_t left_ = kMostUnfoldedBytes;
};

}  // namespace

bool CanFold(const ConfigValue& value) {
  if (value.Find(kFold) != nullptr) return false;
  return std::ranges::all_of(value.items(), CanFold) &&
         std::ranges::all_of(value.members(), [](const auto& member) {
           return CanFold(member.second);
         });
}

ConfigValue FoldNames(const ConfigValue& value) {
  if (auto folded = Fold(value)) return std::move(*folded);
  ConfigValue out = value;
  for (ConfigValue& item : out.mutable_items()) item = FoldNames(item);
  for (auto& [key, member] : out.mutable_members()) member = FoldNames(member);
  return out;
}

std::optional<ConfigValue> UnfoldNames(const ConfigValue& value) {
  return Unfolder().Unfolded(value);
}

}  // namespace foretell
