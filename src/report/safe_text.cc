#include "report/safe_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

namespace foretell {
namespace {

struct Character {
  char32_t code = 0;
  size_t length = 1;   // in bytes
  bool valid = false;  // else one byte that starts no character
};

// The character at the start of `text`, which is not empty. Follows table 3-7
// of the Unicode standard: no overlong forms, no surrogates.
Character FirstOf(std::string_view text) {
  const auto byte = [text](size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const auto follows = [&byte](size_t i, unsigned low = 0x80,
                               unsigned high = 0xBF) {
    return byte(i) >= low && byte(i) <= high;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return {static_cast<char32_t>(first), 1, true};
  if (first >= 0xC2 && first <= 0xDF && follows(1)) {
    return {static_cast<char32_t>((first & 0x1F) << 6 | (byte(1) & 0x3F)), 2,
            true};
  }
  if (first >= 0xE0 && first <= 0xEF &&
      follows(1, first == 0xE0 ? 0xA0 : 0x80, first == 0xED ? 0x9F : 0xBF) &&
      follows(2)) {
    return {static_cast<char32_t>((first & 0x0F) << 12 | (byte(1) & 0x3F) << 6 |
                                  (byte(2) & 0x3F)),
            3, true};
  }
  if (first >= 0xF0 && first <= 0xF4 &&
      follows(1, first == 0xF0 ? 0x90 : 0x80, first == 0xF4 ? 0x8F : 0xBF) &&
      follows(2) && follows(3)) {
    return {
        static_cast<char32_t>((first & 0x07) << 18 | (byte(1) & 0x3F) << 12 |
                              (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F)),
        4, true};
  }
  return {};
}

struct Range {
  char32_t first;
  char32_t last;
};

bool In(char32_t code, std::span<const Range> ranges) {
  return std::ranges::any_of(ranges, [code](const Range& range) {
    return range.first <= code && code <= range.last;
  });
}

// Characters that change how others are shown, or that cannot be seen: soft
// hyphen, direction marks and isolates, zero-width characters, line and
// paragraph separators, the byte order mark, interlinear marks, tags.
constexpr std::array<Range, 9> kUnseen = {{
    {0x00AD, 0x00AD},
    {0x061C, 0x061C},
    {0x180E, 0x180E},
    {0x200B, 0x200F},
    {0x2028, 0x202E},
    {0x2060, 0x206F},
    {0xFEFF, 0xFEFF},
    {0xFFF9, 0xFFFB},
    {0xE0000, 0xE0FFF},
}};

constexpr std::array<Range, 6> kCombining = {{
    {0x0300, 0x036F},
    {0x0483, 0x0489},
    {0x1AB0, 0x1AFF},
    {0x1DC0, 0x1DFF},
    {0x20D0, 0x20FF},
    {0xFE00, 0xFE2F},
}};

constexpr std::array<Range, 12> kWide = {{
    {0x1100, 0x115F},
    {0x2E80, 0x303E},
    {0x3041, 0x33FF},
    {0x3400, 0x4DBF},
    {0x4E00, 0xA4CF},
    {0xAC00, 0xD7A3},
    {0xF900, 0xFAFF},
    {0xFE30, 0xFE6F},
    {0xFF00, 0xFF60},
    {0xFFE0, 0xFFE6},
    {0x1F300, 0x1FAFF},
    {0x20000, 0x3FFFD},
}};

size_t WidthOf(char32_t code) {
  if (In(code, kCombining)) return 0;
  return In(code, kWide) ? 2 : 1;
}

void AppendHarmless(std::string_view bytes, const Character& character,
                    std::string* out) {
  const auto code = static_cast<uint32_t>(character.code);
  if (!character.valid) {
    *out += fmt::format("\\x{:02x}", static_cast<unsigned char>(bytes[0]));
  } else if (code == '\n') {
    *out += "\\n";
  } else if (code == '\r') {
    *out += "\\r";
  } else if (code == '\t') {
    *out += "\\t";
  } else if (code < 0x20 || (code >= 0x7F && code < 0xA0)) {
    *out += fmt::format("\\x{:02x}", code);
  } else if (In(character.code, kUnseen)) {
    *out += fmt::format("\\u{:04x}", code);
  } else {
    *out += bytes.substr(0, character.length);
  }
}

bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }

// The bytes of the longest prefix that takes at most `width` columns; at
// least one character.
size_t PrefixWithin(std::string_view text, size_t width) {
  size_t at = 0;
  size_t columns = 0;
  while (at < text.size()) {
    const Character character = FirstOf(text.substr(at));
    columns += WidthOf(character.code);
    if (columns > width && at > 0) break;
    at += character.length;
  }
  return at;
}

// Where to end the first line of `text`, which is wider than `width`.
size_t BreakOf(std::string_view text, size_t width) {
  const size_t limit = PrefixWithin(text, width);
  // A space right behind the line is as good as one inside it.
  if (limit < text.size() && text[limit] == ' ') return limit;
  const size_t space = text.substr(0, limit).rfind(' ');
  if (space != std::string_view::npos && space > 0) return space;
  // Names break where their parts do, rather than within a part.
  for (const std::string_view marks : {"./", "_-,:"}) {
    for (size_t at = limit; at > limit / 2; --at) {
      if (marks.find(text[at - 1]) != std::string_view::npos) return at;
    }
  }
  // "ForCausalLM" breaks in front of "Causal".
  for (size_t at = limit; at > limit / 2 && at > 0; --at) {
    if (IsLower(text[at - 1]) && at < text.size() && IsUpper(text[at])) {
      return at;
    }
  }
  return limit;
}

}  // namespace

std::string ValidUtf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Character character = FirstOf(text);
    if (character.valid) {
      out += text.substr(0, character.length);
    } else {
      out += "\xEF\xBF\xBD";
    }
    text.remove_prefix(character.length);
  }
  return out;
}

std::string Harmless(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Character character = FirstOf(text);
    AppendHarmless(text, character, &out);
    text.remove_prefix(character.length);
  }
  return out;
}

std::vector<std::string> HarmlessLines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string line;
    for (const char c : text.substr(0, end)) {
      if (c == '\t') {
        line += "        ";
      } else {
        line += c;
      }
    }
    lines.push_back(Harmless(line));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

size_t DisplayWidth(std::string_view text) {
  size_t columns = 0;
  while (!text.empty()) {
    const Character character = FirstOf(text);
    columns += WidthOf(character.code);
    text.remove_prefix(character.length);
  }
  return columns;
}

std::string PadRight(std::string_view text, size_t width) {
  const size_t columns = DisplayWidth(text);
  return std::string(text) +
         std::string(width > columns ? width - columns : 0, ' ');
}

std::string PadLeft(std::string_view text, size_t width) {
  const size_t columns = DisplayWidth(text);
  return std::string(width > columns ? width - columns : 0, ' ') +
         std::string(text);
}

std::vector<std::string> Wrap(std::string_view text, size_t width) {
  std::vector<std::string> lines;
  width = std::max<size_t>(width, 1);
  // Measuring all that is left for every line would take quadratic time. No
  // character takes more than four bytes, and few stand without a width.
  const size_t certain = 16 * width;
  while (text.size() > certain || DisplayWidth(text) > width) {
    const size_t end = BreakOf(text, width);
    lines.emplace_back(text.substr(0, end));
    while (!lines.back().empty() && lines.back().back() == ' ') {
      lines.back().pop_back();
    }
    text.remove_prefix(end);
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  }
  if (!text.empty() || lines.empty()) lines.emplace_back(text);
  return lines;
}

std::string HarmlessCaretBlock(const Place& place) {
  if (place.excerpt.empty()) return "";
  const auto caret = static_cast<size_t>(std::max(0, place.caret));
  const std::string_view excerpt = place.excerpt;
  const std::string before = Harmless(excerpt.substr(0, caret));
  // A caret behind the end of the excerpt stays that far behind.
  const size_t beyond =
      caret > place.excerpt.size() ? caret - place.excerpt.size() : 0;
  return "  " + Harmless(place.excerpt) + "\n  " +
         std::string(DisplayWidth(before) + beyond, ' ') + "^\n";
}

}  // namespace foretell
