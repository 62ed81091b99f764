#include "spec/model_config.h"

#include <algorithm>

namespace foretell {
namespace {

// An excerpt is cut to this many bytes around the column, so that a file of
// one long line still gives a readable message.
constexpr int64_t kExcerptBytes = 76;

bool IsContinuationByte(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

}  // namespace

Place PlaceAt(const std::string& text, int64_t offset, std::string source,
              std::string key) {
  Place place;
  place.source = std::move(source);
  place.key = std::move(key);
  const auto size = static_cast<int64_t>(text.size());
  if (offset < 0 || offset > size) return place;
  const auto at = static_cast<size_t>(offset);
  const size_t before =
      offset == 0 ? std::string::npos : text.rfind('\n', at - 1);
  const size_t start = before == std::string::npos ? 0 : before + 1;
  const size_t newline = text.find('\n', at);
  const size_t end = newline == std::string::npos ? text.size() : newline;
  place.line =
      1 + static_cast<int>(std::count(
              text.begin(), text.begin() + static_cast<int64_t>(start), '\n'));
  place.column = static_cast<int>(at - start) + 1;
  size_t from = start;
  if (static_cast<int64_t>(end - start) > kExcerptBytes) {
    const auto half = static_cast<size_t>(kExcerptBytes / 2);
    from = std::max(start, at > half ? at - half : 0);
    while (from > start && IsContinuationByte(text[from])) --from;
  }
  size_t to = std::min(end, from + static_cast<size_t>(kExcerptBytes));
  while (to < end && to > from && IsContinuationByte(text[to])) --to;
  place.excerpt = text.substr(from, to - from);
  for (char& c : place.excerpt) {
    // A caret is placed by column: a tab or a control byte takes one.
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  place.caret = static_cast<int>(at - from);
  return place;
}

std::string ModelConfig::ShownName() const {
  if (hub) return hub->id + "@" + hub->commit;
  return catalogue ? catalogue->id : source;
}

Place ModelConfig::PlaceOf(const ConfigValue& value, std::string key) const {
  if (!text || value.offset() < 0) {
    Place place;
    place.source = source;
    place.key = std::move(key);
    return place;
  }
  return PlaceAt(*text, value.offset(), source, std::move(key));
}

}  // namespace foretell
