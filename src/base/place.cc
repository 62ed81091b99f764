#include "base/place.h"

#include <algorithm>

namespace foretell {

std::string ToString(const Place& place) {
  std::string out = place.source;
  if (place.line > 0) {
    out += ":" + std::to_string(place.line);
    if (place.column > 0) out += ":" + std::to_string(place.column);
  }
  if (!place.key.empty()) {
    out += out.empty() ? place.key : " (" + place.key + ")";
  }
  return out;
}

std::string CaretBlock(const Place& place) {
  if (place.excerpt.empty()) return "";
  const auto indent = static_cast<size_t>(std::max(0, place.caret));
  return "  " + place.excerpt + "\n  " + std::string(indent, ' ') + "^\n";
}

}  // namespace foretell
