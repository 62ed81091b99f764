#include "report/document.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace foretell {

bool ShowsColumn(const RowShape& row,
                 const std::vector<std::vector<Cell>>& cells, size_t column) {
  return !row.sparse || std::ranges::any_of(cells, [column](const auto& line) {
    return !line[column].empty();
  });
}

Document::Document(const DocumentShape& shape) : shape_(&shape) {
  CheckShape(shape);
  for (const SectionShape& section : shape.sections) {
    for (const RowShape& row : section.rows) values_[&row] = {};
  }
}

RowValue& Document::At(std::string_view path, const RowShape** row) {
  *row = FindRow(*shape_, path);
  FORETELL_CHECK(*row != nullptr, "the shape of " + std::string(shape_->name) +
                                      " lacks " + std::string(path));
  return values_[*row];
}

void Document::Set(std::string_view path, Cell value) {
  const RowShape* row = nullptr;
  RowValue& held = At(path, &row);
  const std::string name(path);
  FORETELL_CHECK(
      row->kind == RowKind::kField || row->kind == RowKind::kPreformatted,
      "set on what is not a field: " + name);
  FORETELL_CHECK(value.Is(row->type), "a value of another type: " + name);
  FORETELL_CHECK(!held.touched, "set twice: " + name);
  held.touched = true;
  held.cell = std::move(value);
}

void Document::AddRow(std::string_view path, std::vector<Cell> cells) {
  const RowShape* row = nullptr;
  RowValue& held = At(path, &row);
  const std::string name(path);
  FORETELL_CHECK(row->kind == RowKind::kTable || row->kind == RowKind::kBars,
                 "a row added to what is not a table: " + name);
  FORETELL_CHECK(cells.size() == row->columns.size(),
                 "a row with another number of cells: " + name);
  for (size_t i = 0; i < cells.size(); ++i) {
    const ColumnShape& column = row->columns[i];
    FORETELL_CHECK(
        cells[i].Is(column.type) || (cells[i].empty() && column.optional),
        "a cell of another type: " + name + "." + std::string(column.name));
  }
  if (row->keys > 0) {
    std::vector<std::string> key;
    for (int i = 0; i < row->keys; ++i) {
      key.push_back(cells[static_cast<size_t>(i)].text());
    }
    FORETELL_CHECK(keys_[row].insert(std::move(key)).second,
                   "a key twice: " + name);
  }
  held.touched = true;
  held.cells.push_back(std::move(cells));
}

void Document::Touch(std::string_view path) {
  const RowShape* row = nullptr;
  RowValue& held = At(path, &row);
  FORETELL_CHECK(
      row->kind != RowKind::kField && row->kind != RowKind::kPreformatted,
      "touched a field without a value: " + std::string(path));
  held.touched = true;
}

void Document::AddFinding(std::string_view path, Finding finding) {
  const RowShape* row = nullptr;
  RowValue& held = At(path, &row);
  FORETELL_CHECK(row->kind == RowKind::kFindings,
                 "a finding added to another row: " + std::string(path));
  held.touched = true;
  held.findings.push_back(std::move(finding));
}

const RowValue& Document::ValueOf(const RowShape& row) const {
  const auto at = values_.find(&row);
  FORETELL_CHECK(at != values_.end(), "a row of another shape");
  return at->second;
}

bool Document::Shows(const RowShape& row) const {
  return !row.optional || ValueOf(row).touched;
}

bool Document::Shows(const SectionShape& section) const {
  return std::ranges::any_of(
      section.rows, [this](const RowShape& row) { return Shows(row); });
}

void Document::CheckComplete() const {
  for (const auto& [row, value] : values_) {
    const bool needs_value =
        row->kind == RowKind::kField || row->kind == RowKind::kPreformatted;
    FORETELL_CHECK(value.touched || row->optional || !needs_value,
                   "not set: " + std::string(row->name));
  }
}

bool Document::Blocks() const {
  return std::ranges::any_of(values_, [](const auto& entry) {
    return AnyBlocks(entry.second.findings);
  });
}

bool Document::CannotTell() const {
  const RowShape* row = FindRow(*shape_, "rules_not_run");
  return row != nullptr && !ValueOf(*row).cells.empty();
}

}  // namespace foretell
