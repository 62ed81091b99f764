#include "input/json_diagnosis.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace foretell {
namespace {

std::string_view Trimmed(std::string_view text) {
  const size_t start = text.find_first_not_of(" \t\r\n");
  return start == std::string_view::npos ? "" : text.substr(start);
}

bool StartsWithAnyCase(std::string_view text, std::string_view prefix) {
  return text.size() >= prefix.size() &&
         std::ranges::equal(
             text.substr(0, prefix.size()), prefix, [](char a, char b) {
               return std::tolower(static_cast<unsigned char>(a)) == b;
             });
}

// The last byte before `offset` that is no white space; 0 where none.
char Before(const std::string& text, size_t offset) {
  while (offset > 0) {
    const char c = text[--offset];
    if (std::isspace(static_cast<unsigned char>(c)) == 0) return c;
  }
  return 0;
}

JsonDiagnosis OtherFormat(std::string_view text) {
  if (text.empty()) {
    return {"the file is empty", "fetch it again, or write the configuration"};
  }
  if (StartsWithAnyCase(text, "<!doctype") ||
      StartsWithAnyCase(text, "<html")) {
    return {"this is a web page, not JSON",
            "it is perhaps a login or an error page saved under this name: "
            "fetch the raw file"};
  }
  if (text.starts_with("version https://git-lfs")) {
    return {"this is a Git LFS pointer, not the file itself",
            "run `git lfs pull` in that folder"};
  }
  if (text.starts_with("---") || text.starts_with("%YAML")) {
    return {"this is YAML, not JSON", "give the model's config.json"};
  }
  if (text.starts_with("GGUF") || text.starts_with("PK\x03\x04") ||
      text.starts_with("\x80\x02")) {
    return {"this file holds weights, not JSON",
            "give the config.json that lies beside it"};
  }
  return {};
}

JsonDiagnosis AtOffset(const std::string& text, size_t offset) {
  if (offset >= text.size()) {
    return {"the text ends before the value does",
            "the file is cut off: fetch it again, or close every { and ["};
  }
  const char c = text[offset];
  if ((c == '}' || c == ']') && Before(text, offset) == ',') {
    return {"a comma stands before the closing bracket",
            "remove the trailing comma"};
  }
  if (c == '\'') {
    return {"a single quote starts a string",
            "JSON wants double quotes: this is perhaps a Python dict"};
  }
  if (c == '/' || c == '#') {
    return {"a comment stands where a value or key should be",
            "JSON has no comments: remove it"};
  }
  const std::string_view rest = std::string_view(text).substr(offset);
  if (rest.starts_with("True") || rest.starts_with("False") ||
      rest.starts_with("None")) {
    return {"a Python word stands where a JSON value should be",
            "write true, false or null"};
  }
  return {};
}

}  // namespace

JsonDiagnosis DiagnoseJson(const std::string& text, size_t offset) {
  JsonDiagnosis out = OtherFormat(Trimmed(text));
  if (out.what.empty()) out = AtOffset(text, offset);
  return out;
}

}  // namespace foretell
