#include "report/render.h"

#include <array>

#include "base/check.h"
#include "report/render_json.h"
#include "report/render_markdown.h"
#include "report/render_text.h"

namespace foretell {
namespace {

struct FormatRow {
  Format format;
  std::string_view name;
};

constexpr std::array<FormatRow, 3> kFormats = {{
    {Format::kText, "text"},
    {Format::kJson, "json"},
    {Format::kMarkdown, "markdown"},
}};

}  // namespace

std::vector<std::string_view> FormatNames() {
  std::vector<std::string_view> names;
  for (const FormatRow& row : kFormats) names.push_back(row.name);
  return names;
}

std::optional<Format> ParseFormat(std::string_view name) {
  for (const FormatRow& row : kFormats) {
    if (row.name == name) return row.format;
  }
  return std::nullopt;
}

std::string Render(const Document& document, Format format,
                   const TextStyle& style) {
  switch (format) {
    case Format::kText:
      return RenderText(document, style);
    case Format::kJson:
      return RenderJson(document);
    case Format::kMarkdown:
      return RenderMarkdown(document);
  }
  FailCheck(__FILE__, __LINE__, "format", "a format without a renderer");
}

}  // namespace foretell
