#include "report/shape_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/render_markdown.h"

namespace foretell {
namespace {

std::string TypeOf(const RowShape& row) {
  switch (row.kind) {
    case RowKind::kField:
      return std::string(NameOf(row.type));
    case RowKind::kPreformatted:
      return "text";
    case RowKind::kFindings:
      return "list of findings";
    case RowKind::kTable:
    case RowKind::kBars:
      return row.keys == 0 ? "list of objects" : "object";
  }
  return "";
}

void AppendLine(const std::string& key, const std::string& type,
                std::string_view doc, std::string* out) {
  *out += fmt::format("| `{}` | {} | {} |\n", key, type, MarkdownText(doc));
}

// One line for the row and one for each of its columns, with the path that a
// reader of the JSON follows: "tensors[].name", "fields.<figure>.n".
void AppendRow(const std::string& prefix, const RowShape& row,
               std::string* out) {
  const std::string path = prefix + std::string(row.name);
  AppendLine(path, TypeOf(row) + (row.optional ? ", optional" : ""), row.doc,
             out);
  std::string entry = path;
  const auto keys = static_cast<size_t>(row.keys);
  for (size_t i = 0; i < keys; ++i) {
    entry += fmt::format(".<{}>", row.columns[i].name);
  }
  if (keys == 0) entry += "[]";
  for (size_t i = keys; i < row.columns.size(); ++i) {
    const ColumnShape& column = row.columns[i];
    const std::string type =
        std::string(NameOf(column.type)) + (!column.optional ? ""
                                            : row.sparse     ? ", optional"
                                                             : " or null");
    AppendLine(row.bare ? entry : fmt::format("{}.{}", entry, column.name),
               type, column.doc, out);
  }
}

}  // namespace

std::string ShapePage(const DocumentShape& shape) {
  std::string out = fmt::format(
      "# JSON of `foretell {0}`\n\n{1}\n\n"
      "What `foretell {0} --json` prints; [{0}.schema.json]({0}.schema.json) "
      "is its JSON Schema.\n\n"
      "| Key | Type | Meaning |\n| --- | --- | --- |\n",
      shape.name, MarkdownText(shape.doc));
  bool has_figure = false;
  bool has_findings = false;
  for (const SectionShape& section : shape.sections) {
    std::string prefix;
    if (!section.name.empty()) {
      prefix = std::string(section.name) + ".";
      AppendLine(std::string(section.name), "object", section.doc, &out);
    }
    for (const RowShape& row : section.rows) {
      AppendRow(prefix, row, &out);
      has_findings = has_findings || row.kind == RowKind::kFindings;
      has_figure =
          has_figure ||
          (row.kind == RowKind::kField && row.type == CellType::kFigure) ||
          std::ranges::any_of(row.columns, [](const ColumnShape& column) {
            return column.type == CellType::kFigure;
          });
    }
  }
  if (has_figure) {
    out +=
        "\nA *figure* is an object: `value`, `unit`, `provenance` (`exact`, "
        "`measured`, `estimated` or `unknown`), `low` and `high` where it has "
        "an interval, `missing` where it is unknown (then `value` is null and "
        "`low`, where given, is the part that is known), and `source` where "
        "one is known. Exact values are whole numbers with all their digits; "
        "read them as 64-bit integers.\n";
  }
  if (has_findings) {
    out +=
        "\nA *finding* is an object: `rule`, `severity` (`block`, `warn` or "
        "`info`), `what`, `why`, `fix`, and `place` with `source`, `line`, "
        "`column` and `key`.\n";
  }
  return out;
}

}  // namespace foretell
