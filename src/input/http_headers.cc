#include "input/http_headers.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/lower_case.h"

namespace foretell {
namespace {

constexpr std::array<std::string_view, 12> kMonths = {
    "Jan", "Feb", "Mar", "Apr", "May", "Jun",
    "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

bool EqualAnyCase(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, LowerOf, LowerOf);
}

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && IsBlank(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsBlank(text.back())) text.remove_suffix(1);
  return text;
}

// The number that `text` begins with, which is taken off.
std::optional<int64_t> TakeNumber(std::string_view& text) {
  size_t digits = 0;
  while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') {
    ++digits;
  }
  const auto number = ParseLength(text.substr(0, digits));
  if (number) text.remove_prefix(digits);
  return number;
}

bool Take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// Days from 1970-01-01 to a date of the Gregorian calendar: years begin with
// March, so that the day that some lack is the last (Howard Hinnant,
// chrono-compatible low-level date algorithms, days_from_civil).
int64_t DaysFromCivil(int64_t year, int64_t month, int64_t day) {
  year -= month <= 2 ? 1 : 0;
  const int64_t era = year / 400;
  const int64_t year_of_era = year - era * 400;
  const int64_t day_of_year =
      (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  const int64_t day_of_era =
      year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * 146097 + day_of_era - 719468;
}

// "Sun, 06 Nov 1994 08:49:37 GMT" in seconds since 1970.
std::optional<int64_t> ParseDate(std::string_view text) {
  const size_t comma = text.find(", ");
  if (comma != 3) return std::nullopt;
  text.remove_prefix(5);
  const auto day = TakeNumber(text);
  if (!day || *day < 1 || *day > 31 || !Take(text, " ")) return std::nullopt;
  const auto* const name = std::ranges::find(kMonths, text.substr(0, 3));
  if (name == kMonths.end()) return std::nullopt;
  text.remove_prefix(3);
  if (!Take(text, " ")) return std::nullopt;
  const auto year = TakeNumber(text);
  if (!year || *year < 1970 || *year > 9999 || !Take(text, " ")) {
    return std::nullopt;
  }
  std::array<int64_t, 3> time = {};
  for (size_t i = 0; i < time.size(); ++i) {
    if (i > 0 && !Take(text, ":")) return std::nullopt;
    const auto part = TakeNumber(text);
    if (!part || *part > 60) return std::nullopt;
    time[i] = *part;
  }
  if (text != " GMT") return std::nullopt;
  const int64_t days = DaysFromCivil(*year, name - kMonths.begin() + 1, *day);
  return ((days * 24 + time[0]) * 60 + time[1]) * 60 + time[2];
}

}  // namespace

void HttpHeaders::AddLine(std::string_view line) {
  if (line.starts_with("HTTP/")) {
    fields_.clear();
    ended_ = false;
    return;
  }
  if (Trimmed(line).empty()) ended_ = true;
  if (ended_) return;
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos || colon == 0) return;
  const std::string_view name = line.substr(0, colon);
  const std::string_view value = Trimmed(line.substr(colon + 1));
  for (auto& [known, held] : fields_) {
    if (!EqualAnyCase(known, name)) continue;
    held = value;
    return;
  }
  fields_.emplace_back(name, value);
}

const std::string* HttpHeaders::Find(std::string_view name) const {
  for (const auto& [known, value] : fields_) {
    if (EqualAnyCase(known, name)) return &value;
  }
  return nullptr;
}

std::string HttpHeaders::Text(std::string_view name) const {
  const std::string* value = Find(name);
  return value == nullptr ? "" : *value;
}

std::optional<std::string> BlobNameOfEtag(std::string_view etag) {
  // As Python's lstrip("W/") and strip('"') do it.
  while (etag.starts_with('W') || etag.starts_with('/')) etag.remove_prefix(1);
  while (etag.starts_with('"')) etag.remove_prefix(1);
  while (etag.ends_with('"')) etag.remove_suffix(1);
  // A temporary name for it has to stay below a file system's 255 bytes.
  if (etag.empty() || etag.size() > 200 || etag.front() == '.') {
    return std::nullopt;
  }
  const auto allowed = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z') || c == '-' || c == '_' || c == '.';
  };
  if (!std::ranges::all_of(etag, allowed)) return std::nullopt;
  return std::string(etag);
}

std::optional<int64_t> ParseLength(std::string_view value) {
  // from_chars takes a sign, a length has none.
  if (value.empty() || value.front() < '0' || value.front() > '9') {
    return std::nullopt;
  }
  int64_t number = 0;
  const auto [end, error] =
      std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || end != value.data() + value.size()) {
    return std::nullopt;
  }
  return number;
}

std::optional<ContentRange> ParseContentRange(std::string_view value) {
  std::string_view rest = Trimmed(value);
  if (rest.size() < 6 || !EqualAnyCase(rest.substr(0, 6), "bytes ")) {
    return std::nullopt;
  }
  rest.remove_prefix(6);
  const auto first = TakeNumber(rest);
  if (!first || !Take(rest, "-")) return std::nullopt;
  const auto last = TakeNumber(rest);
  if (!last || *last < *first || !Take(rest, "/")) return std::nullopt;
  ContentRange out = {.first = *first, .last = *last};
  if (rest == "*") return out;
  out.total = ParseLength(rest);
  if (!out.total || *out.total <= *last) return std::nullopt;
  return out;
}

std::optional<int64_t> ParseRetryAfter(std::string_view value, int64_t now) {
  const std::string_view text = Trimmed(value);
  if (const auto seconds = ParseLength(text)) return seconds;
  const auto date = ParseDate(text);
  if (!date) return std::nullopt;
  return std::max<int64_t>(*date - now, 0);
}

std::optional<int64_t> ParseRateLimit(std::string_view value) {
  std::optional<int64_t> remaining;
  std::optional<int64_t> seconds;
  while (!value.empty()) {
    const size_t end = std::min(value.find(';'), value.size());
    const std::string_view part = Trimmed(value.substr(0, end));
    if (part.starts_with("r=")) remaining = ParseLength(part.substr(2));
    if (part.starts_with("t=")) seconds = ParseLength(part.substr(2));
    value.remove_prefix(std::min(end + 1, value.size()));
  }
  if (remaining != 0) return std::nullopt;
  return seconds;
}

}  // namespace foretell
