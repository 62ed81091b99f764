#include "report/shape.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "base/check.h"

namespace foretell {
namespace {

bool IsSnakeCase(std::string_view name) {
  if (name.empty() || name.front() < 'a' || name.front() > 'z') return false;
  return std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

void CheckName(std::string_view name, std::string_view label,
               std::string_view doc) {
  const std::string shown(name);
  FORETELL_CHECK(IsSnakeCase(name), "not snake_case: " + shown);
  FORETELL_CHECK(!label.empty(), "no label: " + shown);
  FORETELL_CHECK(doc.ends_with('.'), "no doc sentence: " + shown);
}

void CheckTable(const RowShape& row) {
  const std::string name(row.name);
  FORETELL_CHECK(!row.columns.empty(), "a table without columns: " + name);
  std::set<std::string_view> names;
  for (const ColumnShape& column : row.columns) {
    CheckName(column.name, column.label, column.doc);
    FORETELL_CHECK(names.insert(column.name).second,
                   "a column twice in " + name);
  }
  const auto keys = static_cast<size_t>(row.keys);
  FORETELL_CHECK(row.keys >= 0 && row.keys <= 2 && keys < row.columns.size(),
                 "keys leave no column: " + name);
  for (size_t i = 0; i < keys; ++i) {
    FORETELL_CHECK(
        row.columns[i].type == CellType::kText && !row.columns[i].optional,
        "a key that is not a text: " + name);
  }
  FORETELL_CHECK(!row.bare || (keys > 0 && row.columns.size() == keys + 1),
                 "a bare table has one column after its keys: " + name);
  if (row.kind == RowKind::kBars) {
    FORETELL_CHECK(row.columns.size() == 2 &&
                       row.columns[0].type == CellType::kText &&
                       row.columns[1].type == CellType::kFigure,
                   "bars are a text and a figure: " + name);
  }
}

void CheckRow(const RowShape& row) {
  CheckName(row.name, row.label, row.doc);
  if (row.kind == RowKind::kTable || row.kind == RowKind::kBars) {
    CheckTable(row);
  } else {
    FORETELL_CHECK(row.columns.empty(), "columns outside a table");
  }
}

}  // namespace

std::string_view NameOf(CellType type) {
  switch (type) {
    case CellType::kText:
      return "text";
    case CellType::kInteger:
      return "integer";
    case CellType::kReal:
      return "real";
    case CellType::kFlag:
      return "flag";
    case CellType::kFigure:
      return "figure";
    case CellType::kTexts:
      return "list of text";
  }
  FailCheck(__FILE__, __LINE__, "type", "cell type without a name");
}

RowShape FieldRow(std::string_view name, std::string_view label, CellType type,
                  std::string_view doc) {
  RowShape row;
  row.kind = RowKind::kField;
  row.name = name;
  row.label = label;
  row.doc = doc;
  row.type = type;
  return row;
}

RowShape TableRow(std::string_view name, std::string_view label,
                  std::string_view doc, std::vector<ColumnShape> columns) {
  RowShape row = FieldRow(name, label, CellType::kText, doc);
  row.kind = RowKind::kTable;
  row.columns = std::move(columns);
  return row;
}

RowShape KeyedRow(std::string_view name, std::string_view label,
                  std::string_view doc, std::vector<ColumnShape> columns,
                  int keys) {
  RowShape row = TableRow(name, label, doc, std::move(columns));
  row.keys = keys;
  return row;
}

RowShape MapRow(std::string_view name, std::string_view label,
                std::string_view doc, ColumnShape key, ColumnShape value) {
  RowShape row = KeyedRow(name, label, doc, {key, value});
  row.bare = true;
  return row;
}

RowShape BarsRow(std::string_view name, std::string_view label,
                 std::string_view doc, ColumnShape part, ColumnShape figure) {
  RowShape row = TableRow(name, label, doc, {part, figure});
  row.kind = RowKind::kBars;
  return row;
}

RowShape FindingsRow(std::string_view name, std::string_view label,
                     std::string_view doc) {
  RowShape row = FieldRow(name, label, CellType::kText, doc);
  row.kind = RowKind::kFindings;
  return row;
}

RowShape PreformattedRow(std::string_view name, std::string_view label,
                         std::string_view doc) {
  RowShape row = FieldRow(name, label, CellType::kText, doc);
  row.kind = RowKind::kPreformatted;
  return row;
}

RowShape Optional(RowShape row) {
  row.optional = true;
  return row;
}

RowShape Sparse(RowShape row) {
  row.sparse = true;
  return row;
}

const RowShape* FindRow(const DocumentShape& shape, std::string_view path) {
  const size_t dot = path.find('.');
  const std::string_view section_name =
      dot == std::string_view::npos ? "" : path.substr(0, dot);
  const std::string_view name =
      dot == std::string_view::npos ? path : path.substr(dot + 1);
  for (const SectionShape& section : shape.sections) {
    if (section.name != section_name) continue;
    for (const RowShape& row : section.rows) {
      if (row.name == name) return &row;
    }
  }
  return nullptr;
}

void CheckShape(const DocumentShape& shape) {
  FORETELL_CHECK(!shape.title.empty() && shape.doc.ends_with('.'),
                 "a shape without title or doc");
  // What stands at the top level: sections with a name, and rows of sections
  // without one.
  std::set<std::string_view> top;
  for (const SectionShape& section : shape.sections) {
    std::set<std::string_view> own;
    if (!section.name.empty()) {
      CheckName(section.name, section.title, section.doc);
      FORETELL_CHECK(top.insert(section.name).second,
                     "a name twice: " + std::string(section.name));
    }
    for (const RowShape& row : section.rows) {
      CheckRow(row);
      FORETELL_CHECK((section.name.empty() ? top : own).insert(row.name).second,
                     "a name twice: " + std::string(row.name));
    }
  }
}

}  // namespace foretell
