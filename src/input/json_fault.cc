#include "input/json_fault.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "spec/model_config.h"

namespace foretell {
namespace {

constexpr std::string_view kSpace = " \t\r\n";

struct Told {
  std::string what;
  std::string cure;
  int64_t offset = 0;
};

bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// What is open at the end of text[0, end): brackets, and perhaps a string.
struct Open {
  std::vector<size_t> brackets;  // offsets, outermost first
  std::optional<size_t> string;  // offset of its quote
};

Open OpenAt(std::string_view text, size_t end) {
  Open open;
  for (size_t i = 0; i < end; ++i) {
    const char c = text[i];
    if (open.string) {
      if (c == '\\') {
        ++i;
      } else if (c == '"') {
        open.string.reset();
      }
    } else if (c == '"') {
      open.string = i;
    } else if (c == '{' || c == '[') {
      open.brackets.push_back(i);
    } else if ((c == '}' || c == ']') && !open.brackets.empty()) {
      open.brackets.pop_back();
    }
  }
  return open;
}

// The last character before `at` that is no white space; none at the start.
std::optional<size_t> Before(std::string_view text, size_t at) {
  if (at == 0) return std::nullopt;
  const size_t found = text.find_last_not_of(kSpace, at - 1);
  if (found == std::string_view::npos) return std::nullopt;
  return found;
}

std::string_view WordAt(std::string_view text, size_t at) {
  size_t end = at;
  while (end < text.size() && end - at < 60 &&
         (IsLetter(text[end]) || IsDigit(text[end]))) {
    ++end;
  }
  return text.substr(at, end - at);
}

// "hidden_size: 4096" or "---" as the first line that is no comment.
bool LooksLikeYaml(std::string_view text) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const size_t start = line.find_first_not_of(kSpace);
    if (start == std::string_view::npos || line[start] == '#') continue;
    if (line.starts_with("---")) return true;
    const std::string_view word = WordAt(line, start);
    const size_t colon = start + word.size();
    return !word.empty() && colon < line.size() && line[colon] == ':' &&
           (colon + 1 == line.size() || line[colon + 1] == ' ' ||
            line[colon + 1] == '\r');
  }
  return false;
}

// Files of another kind altogether, told by how they begin.
std::optional<Told> AnotherKind(std::string_view text, size_t start) {
  if (start >= text.size()) {
    return Told{"is empty",
                "fetch the file again, or pass one that holds a JSON object",
                -1};  // no line to show
  }
  const std::string_view rest = text.substr(start);
  const auto at = static_cast<int64_t>(start);
  if (rest.starts_with('<')) {
    return Told{
        "this looks like a web page, perhaps a login or error page, not JSON",
        "fetch the file itself: on the hub its address has /resolve/ in it, "
        "not /blob/",
        at};
  }
  if (rest.starts_with("version https://git-lfs.github.com/spec/")) {
    return Told{"is a Git LFS pointer, not the file that it stands for",
                "run `git lfs pull` in its repository, or download the file",
                at};
  }
  if (LooksLikeYaml(rest)) {
    return Told{"this looks like YAML, not JSON",
                "write it as JSON: {\"hidden_size\": 4096, …}", at};
  }
  return std::nullopt;
}

Told CutShort(std::string_view text) {
  const Open open = OpenAt(text, text.size());
  std::string closers = open.string ? "\"" : "";
  const size_t shown = std::min<size_t>(open.brackets.size(), 20);
  for (size_t i = 0; i < shown; ++i) {
    const size_t bracket = open.brackets[open.brackets.size() - 1 - i];
    closers += text[bracket] == '{' ? '}' : ']';
  }
  if (shown < open.brackets.size()) closers += "…";
  const std::string cure = fmt::format(
      "fetch the file again if it was cut short, else add {} at its end",
      closers);
  if (open.string) {
    return {"the string that begins here is never closed", cure,
            static_cast<int64_t>(*open.string)};
  }
  if (open.brackets.empty()) {
    return {"the text ends where a value was expected",
            "fetch the file again: it was cut short",
            static_cast<int64_t>(text.size())};
  }
  const size_t last = open.brackets.back();
  return {fmt::format("the {} that begins here is never closed",
                      text[last] == '{' ? "object" : "array"),
          cure, static_cast<int64_t>(last)};
}

// Words of other languages, and keys without quotes.
Told Word(std::string_view word, JsonFault fault, int64_t at) {
  static constexpr std::pair<std::string_view, std::string_view> kPython[] = {
      {"True", "true"}, {"False", "false"}, {"None", "null"}};
  for (const auto& [python, json] : kPython) {
    if (word == python) {
      return {fmt::format("{} is Python, not JSON", python),
              fmt::format("write {}; in Python, json.dumps writes JSON", json),
              at};
    }
  }
  if (fault == JsonFault::kName) {
    return {fmt::format("the key {} is not in quotes", word),
            fmt::format("write \"{}\"", word), at};
  }
  if (word == "nan" || word == "inf" || word == "Inf") {
    return {fmt::format("{} is no number of JSON", word),
            word == "nan" ? "write NaN" : "write Infinity", at};
  }
  return {fmt::format("{} is no value of JSON", word),
          "write a string in double quotes, a number, true, false or null", at};
}

// A comma where a value or a key should be, or a bracket after a comma.
std::optional<Told> CommaFault(std::string_view text, size_t at) {
  const char c = text[at];
  const auto before = Before(text, at);
  const char last = before ? text[*before] : '\0';
  if ((c == '}' || c == ']') && last == ',') {
    return Told{fmt::format("a comma stands before the closing {}", c),
                "remove the comma", static_cast<int64_t>(*before)};
  }
  if (c == ',' && (last == ',' || last == '[' || last == '{' || last == ':')) {
    return Told{"a value is missing before this comma",
                "write the value, or remove the comma",
                static_cast<int64_t>(at)};
  }
  if ((c == '}' || c == ']') && last == ':') {
    return Told{"a value is missing after the colon", "write the value",
                static_cast<int64_t>(at)};
  }
  return std::nullopt;
}

bool BeginsValue(char c) {
  return c == '"' || c == '{' || c == '[' || c == '-' || IsDigit(c) ||
         c == 't' || c == 'f' || c == 'n';
}

Told Numberlike(std::string_view text, size_t at) {
  const char c = text[at];
  const auto offset = static_cast<int64_t>(at);
  if (c == '+') return {"a number does not begin with +", "remove it", offset};
  if (c == '.') {
    return {"a number does not begin with a point", "write 0 before it",
            offset};
  }
  if (at > 0 && text[at - 1] == '0' && IsDigit(c)) {
    return {"a number does not begin with 0", "remove the zeros before it",
            offset};
  }
  return {"this is no number", "write digits, as in 4096 or 1e-06", offset};
}

// After a member or an element neither a comma nor the end.
Told MissingComma(std::string_view text, size_t at, JsonFault fault) {
  const char c = text[at];
  const auto offset = static_cast<int64_t>(at);
  const bool touches = at > 0 && IsDigit(text[at - 1]);
  if (touches && (IsDigit(c) || c == '.' || IsLetter(c))) {
    return Numberlike(text, at);
  }
  const bool in_object = fault == JsonFault::kObjectEnd;
  if (c == (in_object ? ']' : '}')) {
    return {fmt::format("{} closes {}, but {} is open", c,
                        in_object ? "an array" : "an object",
                        in_object ? "an object" : "an array"),
            fmt::format("write {}, or close what is open first",
                        in_object ? "}" : "]"),
            offset};
  }
  if (BeginsValue(c) || IsLetter(c)) {
    return {"a comma is missing before this", "write a comma", offset};
  }
  return {fmt::format("neither a comma nor {} follows the value",
                      in_object ? "}" : "]"),
          "remove what stands here", offset};
}

Told Syntax(std::string_view text, size_t at, JsonFault fault) {
  const char c = text[at];
  const auto offset = static_cast<int64_t>(at);
  if (c == '\'') {
    return {"single quotes are Python, not JSON",
            "write double quotes; in Python, json.dumps writes JSON", offset};
  }
  const bool slashes =
      text.substr(at).starts_with("//") || text.substr(at).starts_with("/*");
  if (slashes || c == '#') {
    return {"JSON has no comments", "remove the comment", offset};
  }
  if (const auto comma = CommaFault(text, at)) return *comma;
  switch (fault) {
    case JsonFault::kColon:
      return {"a colon is missing after the key",
              "write : between the key and its value", offset};
    case JsonFault::kObjectEnd:
    case JsonFault::kArrayEnd:
      return MissingComma(text, at, fault);
    default:
      break;
  }
  // A word may fail in its middle ("nul").
  size_t start = at;
  while (start > 0 && (IsLetter(text[start - 1]) || IsDigit(text[start - 1]))) {
    --start;
  }
  const std::string_view word = WordAt(text, start);
  if (!word.empty() && IsLetter(word.front())) {
    return Word(word, fault, static_cast<int64_t>(start));
  }
  if (c == '+' || c == '.' || c == '-' || IsDigit(c) ||
      (at > 0 && text[at - 1] == '-')) {
    if (fault == JsonFault::kName) {
      return {"a key is a string in double quotes",
              "write the key in double quotes", offset};
    }
    return Numberlike(text, at);
  }
  if (fault == JsonFault::kName) {
    return {"a key in double quotes was expected here",
            "write \"key\": value, or close the object", offset};
  }
  return {"a value was expected here",
          "write a string in double quotes, a number, true, false, null, an "
          "array or an object",
          offset};
}

Told Escape(std::string_view text, size_t at) {
  const auto offset = static_cast<int64_t>(at);
  const char c = text[at];
  if (c != '\\') {
    return {c == '\n' || c == '\r'
                ? std::string("a line break stands inside a string")
                : fmt::format("the control character {:#04x} stands inside a "
                              "string",
                              static_cast<unsigned char>(c)),
            "close the string before it, or write \\n, \\t or \\u00XX", offset};
  }
  const bool printable =
      at + 1 < text.size() && text[at + 1] > 0x20 && text[at + 1] < 0x7f;
  return {printable ? fmt::format("\\{} is no escape of JSON", text[at + 1])
                    : std::string("a lone \\ is no escape of JSON"),
          "write \\\\ where a backslash is meant", offset};
}

Told ExtraText(std::string_view text, size_t at) {
  const char c = text[at];
  const auto offset = static_cast<int64_t>(at);
  if (c == '}' || c == ']') {
    return {fmt::format("a closing {} too many", c), "remove it", offset};
  }
  const auto before = Before(text, at);
  if (before && *before + 1 == at && IsDigit(text[*before])) {
    return Numberlike(text, at);
  }
  return {"more text follows the end of the value",
          "keep one value in the file and remove the rest", offset};
}

Told Tell(std::string_view text, size_t at, JsonFault fault) {
  const auto offset = static_cast<int64_t>(at);
  switch (fault) {
    case JsonFault::kUnterminated:
      return CutShort(text);
    case JsonFault::kHex:
      return {"\\u is not followed by four hexadecimal digits",
              "write all four, or \\\\u where a backslash is meant", offset};
    case JsonFault::kSurrogate:
      return {"half a surrogate pair, which no text can hold",
              "write both halves (\\ud83d\\ude00) or the character itself",
              offset};
    case JsonFault::kEncoding:
      return {"the bytes here are not UTF-8", "save the file as UTF-8", offset};
    case JsonFault::kNumberTooBig:
      return {"is a number larger than any that a computer calculates with",
              "write a number below 1.7e308", offset};
    default:
      break;
  }
  if (at >= text.size()) return CutShort(text);
  switch (fault) {
    case JsonFault::kNumberEnd:
      return {"a number does not end with its point or exponent",
              "write digits after it, as in 1.0 or 1e-06", offset};
    case JsonFault::kEscape:
      return Escape(text, at);
    case JsonFault::kExtraText:
      return ExtraText(text, at);
    default:
      return Syntax(text, at, fault);
  }
}

}  // namespace

InputError DescribeJsonFault(const std::string& text, int64_t offset,
                             JsonFault fault, const std::string& source) {
  const size_t at =
      std::min(static_cast<size_t>(std::max<int64_t>(offset, 0)), text.size());
  std::optional<Told> told;
  // Only a parser that got nowhere has met another kind of file.
  const size_t mark = text.starts_with("\xEF\xBB\xBF") ? 3 : 0;
  const size_t first =
      std::min(text.find_first_not_of(kSpace, mark), text.size());
  if (at <= first + 1) told = AnotherKind(text, first);
  if (!told) told = Tell(text, at, fault);
  return {PlaceAt(text, told->offset, source, ""), std::move(told->what),
          std::move(told->cure)};
}

}  // namespace foretell
