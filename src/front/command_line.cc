#include "front/command_line.h"

#include <algorithm>
#include <cctype>

namespace foretell {
namespace {

constexpr size_t kLongestExcerpt = 80;
constexpr std::string_view kCut = "...";

bool IsPlain(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         std::string_view("-_./:=,+@%").find(c) != std::string_view::npos;
}

// Within single quotes only the quote itself needs care.
std::string Quoted(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out;
}

// Whether `at` is within a UTF-8 character rather than at its start.
bool IsInside(std::string_view text, size_t at) {
  return at < text.size() &&
         (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
}

// Cuts the line to about kLongestExcerpt bytes around the caret.
void Cut(Place* place) {
  std::string& line = place->excerpt;
  if (line.size() <= kLongestExcerpt) return;
  const auto caret = static_cast<size_t>(place->caret);
  // Two thirds of the room show what leads to the place.
  constexpr size_t kBefore = kLongestExcerpt * 2 / 3;
  size_t first = caret > kBefore ? caret - kBefore : 0;
  size_t last = std::min(line.size(), first + kLongestExcerpt);
  first = std::min(first, last > kLongestExcerpt ? last - kLongestExcerpt : 0);
  while (first > 0 && IsInside(line, first)) --first;
  while (last < line.size() && IsInside(line, last)) ++last;
  std::string shown = line.substr(first, last - first);
  size_t moved = caret - first;
  if (first > 0) {
    shown.insert(0, kCut);
    moved += kCut.size();
  }
  if (last < line.size()) shown += kCut;
  line = shown;
  place->caret = static_cast<int>(moved);
}

}  // namespace

std::string ShellQuoted(std::string_view word) {
  if (!word.empty() && std::ranges::all_of(word, IsPlain)) {
    return std::string(word);
  }
  return "'" + Quoted(word) + "'";
}

Place PlaceInCommandLine(std::string_view program,
                         std::span<const std::string> words, size_t index,
                         size_t offset) {
  std::string line(program);
  size_t caret = line.size() + 1;
  for (size_t i = 0; i < words.size(); ++i) {
    line += " ";
    if (i == index) {
      caret = line.size();
      const std::string quoted = ShellQuoted(words[i]);
      if (quoted == words[i]) {
        caret += offset;
      } else {
        caret += 1 + Quoted(words[i].substr(0, offset)).size();
      }
    }
    line += ShellQuoted(words[i]);
  }
  if (index >= words.size()) caret = line.size() + 1;
  Place place;
  place.source = kCommandLine;
  place.column = static_cast<int>(caret) + 1;
  place.excerpt = line;
  place.caret = static_cast<int>(caret);
  Cut(&place);
  return place;
}

}  // namespace foretell
