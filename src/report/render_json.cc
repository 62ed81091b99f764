#include "report/render_json.h"

#include <set>

#include "report/json_writer.h"

namespace foretell {
namespace {

using Rows = std::vector<std::vector<Cell>>;

void WriteTexts(const std::vector<std::string>& texts, JsonWriter& json) {
  json.BeginArray();
  for (const std::string& text : texts) json.Text(text);
  json.EndArray();
}

void WriteFigureJson(const AnyFigure& figure, JsonWriter& json) {
  json.BeginObject();
  json.Key("value");
  if (figure.is_exact()) {
    json.Integer(figure.exact());
  } else if (figure.is_unknown()) {
    json.Null();
  } else {
    json.Real(*figure.value());
  }
  json.TextAt("unit", JsonNameOf(figure.unit()));
  json.TextAt("provenance", NameOf(figure.provenance()));
  if (!figure.is_exact()) {
    if (figure.low()) {
      json.Key("low");
      json.Real(*figure.low());
    }
    if (figure.high()) {
      json.Key("high");
      json.Real(*figure.high());
    }
  }
  if (figure.is_unknown()) {
    json.Key("missing");
    WriteTexts(figure.missing(), json);
  }
  if (!figure.source().empty()) json.TextAt("source", figure.source());
  json.EndObject();
}

void WriteCell(const Cell& cell, CellType type, JsonWriter& json) {
  if (cell.empty()) return json.Null();
  switch (type) {
    case CellType::kText:
      return json.Text(cell.text());
    case CellType::kInteger:
      return json.Integer(cell.integer());
    case CellType::kReal:
      return json.Real(cell.real());
    case CellType::kFlag:
      return json.Flag(cell.flag());
    case CellType::kFigure:
      return WriteFigureJson(cell.figure(), json);
    case CellType::kTexts:
      return WriteTexts(cell.texts(), json);
  }
}

// The columns of one row from `first` on: an object, or the one bare value.
void WriteRow(const RowShape& row, const std::vector<Cell>& cells, size_t first,
              JsonWriter& json) {
  if (row.bare) return WriteCell(cells[first], row.columns[first].type, json);
  json.BeginObject();
  for (size_t i = first; i < cells.size(); ++i) {
    if (row.sparse && cells[i].empty()) continue;
    json.Key(row.columns[i].name);
    WriteCell(cells[i], row.columns[i].type, json);
  }
  json.EndObject();
}

void WriteTable(const RowShape& row, const Rows& rows, JsonWriter& json) {
  if (row.keys == 0) {
    json.BeginArray();
    for (const auto& cells : rows) WriteRow(row, cells, 0, json);
    json.EndArray();
    return;
  }
  json.BeginObject();
  std::set<std::string> written;
  for (const auto& cells : rows) {
    const std::string& key = cells[0].text();
    if (row.keys == 1) {
      json.Key(key);
      WriteRow(row, cells, 1, json);
      continue;
    }
    // The rows of one outer key stand together, wherever they were added.
    if (!written.insert(key).second) continue;
    json.Key(key);
    json.BeginObject();
    for (const auto& inner : rows) {
      if (inner[0].text() != key) continue;
      json.Key(inner[1].text());
      WriteRow(row, inner, 2, json);
    }
    json.EndObject();
  }
  json.EndObject();
}

void WriteFindings(const std::vector<Finding>& findings, JsonWriter& json) {
  json.BeginArray();
  for (const Finding& finding : findings) {
    json.BeginObject();
    json.TextAt("rule", finding.rule);
    json.TextAt("severity", NameOf(finding.severity));
    json.TextAt("what", finding.what);
    json.TextAt("why", finding.why);
    json.TextAt("fix", finding.fix);
    json.Key("place");
    WritePlace(finding.place, json);
    json.EndObject();
  }
  json.EndArray();
}

void WriteValue(const RowShape& row, const RowValue& value, JsonWriter& json) {
  switch (row.kind) {
    case RowKind::kField:
      return WriteCell(value.cell, row.type, json);
    case RowKind::kPreformatted:
      return json.Text(value.cell.text());
    case RowKind::kTable:
    case RowKind::kBars:
      return WriteTable(row, value.cells, json);
    case RowKind::kFindings:
      return WriteFindings(value.findings, json);
  }
}

}  // namespace

std::string_view JsonNameOf(Unit unit) {
  return unit == Unit::kCount ? "count" : NameOf(unit);
}

std::string RenderJson(const Document& document) {
  document.CheckComplete();
  JsonWriter json;
  json.BeginObject();
  for (const SectionShape& section : document.shape().sections) {
    if (!document.Shows(section)) continue;
    if (!section.name.empty()) {
      json.Key(section.name);
      json.BeginObject();
    }
    for (const RowShape& row : section.rows) {
      if (!document.Shows(row)) continue;
      json.Key(row.name);
      WriteValue(row, document.ValueOf(row), json);
    }
    if (!section.name.empty()) json.EndObject();
  }
  json.EndObject();
  return json.Take();
}

}  // namespace foretell
