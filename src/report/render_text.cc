#include "report/render_text.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "report/bars.h"
#include "report/figure_text.h"
#include "report/safe_text.h"
#include "report/text_table.h"

namespace foretell {
namespace {

constexpr size_t kIndent = 2;
constexpr int kBarWidth = 24;
constexpr size_t kUnbounded = 1'000'000;
constexpr char kNoValue[] = "–";

size_t WidthOf(const TextStyle& style) {
  return static_cast<size_t>(std::clamp(style.width, 80, 100));
}

std::string Join(const std::vector<std::string>& texts) {
  if (texts.empty()) return "none";
  return Harmless(fmt::format("{}", fmt::join(texts, ", ")));
}

// A value as one text, figures apart.
std::string PlainText(const Cell& cell, CellType type) {
  if (cell.empty()) return kNoValue;
  switch (type) {
    case CellType::kText:
      // Never a blank, which would read like something forgotten.
      return cell.text().empty() ? kNoValue : Harmless(cell.text());
    case CellType::kInteger:
      return WithSeparators(cell.integer());
    case CellType::kReal:
      return RealText(cell.real());
    case CellType::kFlag:
      return cell.flag() ? "yes" : "no";
    case CellType::kFigure:
      return FigureLine(cell.figure());
    case CellType::kTexts:
      return Join(cell.texts());
  }
  return kNoValue;
}

bool IsNumber(CellType type) {
  return type == CellType::kInteger || type == CellType::kReal ||
         type == CellType::kFigure;
}

// Fields -------------------------------------------------------------------

// Consecutive fields stand under each other: labels, then digits aligned.
struct FieldLine {
  std::string label;
  std::string number;  // right-aligned; empty where the value is a text
  std::string rest;    // the text, or what follows the number
};

FieldLine LineOf(const RowShape& row, const Cell& cell) {
  FieldLine line;
  line.label = row.label;
  if (row.type == CellType::kFigure) {
    line.number = Harmless(WriteFigure(cell.figure()).number);
    const std::string whole = FigureLine(cell.figure(), row.label);
    line.rest = whole.substr(line.number.size());
  } else if (IsNumber(row.type)) {
    line.number = PlainText(cell, row.type);
  } else {
    line.rest = PlainText(cell, row.type);
  }
  return line;
}

void AppendFields(const std::vector<FieldLine>& lines, size_t width,
                  std::string* out) {
  size_t label_width = 0;
  size_t number_width = 0;
  for (const FieldLine& line : lines) {
    label_width = std::max(label_width, DisplayWidth(line.label));
    number_width = std::max(number_width, DisplayWidth(line.number));
  }
  const size_t start = kIndent + label_width + 2;
  for (const FieldLine& line : lines) {
    const std::string value =
        line.number.empty() ? line.rest
                            : PadLeft(line.number, number_width) + line.rest;
    const auto wrapped = Wrap(value, width > start ? width - start : 1);
    *out += std::string(kIndent, ' ') + PadRight(line.label, label_width) +
            "  " + wrapped[0] + "\n";
    for (size_t i = 1; i < wrapped.size(); ++i) {
      *out += std::string(start, ' ') + wrapped[i] + "\n";
    }
  }
}

// Tables -------------------------------------------------------------------

// The unit that every figure of a column shares, or nothing.
std::string SharedUnit(const std::vector<FigureText>& figures) {
  std::string unit;
  for (const FigureText& figure : figures) {
    if (figure.unit.empty()) continue;
    if (!unit.empty() && unit != figure.unit) return "";
    unit = figure.unit;
  }
  return unit;
}

// A column of figures becomes up to three: digits, the scaled value, notes.
void AddFigureColumns(const ColumnShape& shape,
                      const std::vector<std::vector<Cell>>& cells, size_t index,
                      std::vector<TextColumn>* columns) {
  std::vector<FigureText> figures;
  for (const std::vector<Cell>& row : cells) {
    FigureText text;
    text.number = kNoValue;
    if (!row[index].empty()) text = WriteFigure(row[index].figure());
    figures.push_back(std::move(text));
  }
  const std::string unit = SharedUnit(figures);
  TextColumn digits{.header = std::string(shape.label), .right = true};
  TextColumn scaled{.right = true};
  TextColumn notes{.wraps = true, .is_note = true};
  if (!unit.empty() && !NamesUnit(shape.label, unit)) {
    digits.header += " [" + unit + "]";
  }
  bool any_scaled = false;
  bool any_note = false;
  for (const FigureText& figure : figures) {
    const bool own_unit = unit.empty() && !figure.unit.empty();
    digits.cells.push_back(
        Harmless(figure.number + (own_unit ? " " + figure.unit : "")));
    scaled.cells.push_back(Harmless(figure.scaled));
    notes.cells.push_back(
        figure.note.empty() ? "" : Harmless("(" + figure.note + ")"));
    any_scaled = any_scaled || !figure.scaled.empty();
    any_note = any_note || !figure.note.empty();
  }
  columns->push_back(std::move(digits));
  if (any_scaled) columns->push_back(std::move(scaled));
  if (any_note) columns->push_back(std::move(notes));
}

std::vector<TextColumn> ColumnsOf(const RowShape& row,
                                  const std::vector<std::vector<Cell>>& cells) {
  std::vector<TextColumn> columns;
  for (size_t i = 0; i < row.columns.size(); ++i) {
    const ColumnShape& shape = row.columns[i];
    if (!ShowsColumn(row, cells, i)) continue;
    if (shape.type == CellType::kFigure) {
      AddFigureColumns(shape, cells, i, &columns);
      continue;
    }
    TextColumn column{.header = std::string(shape.label),
                      .right = IsNumber(shape.type),
                      .wraps = !IsNumber(shape.type)};
    for (const std::vector<Cell>& line : cells) {
      column.cells.push_back(PlainText(line[i], shape.type));
    }
    columns.push_back(std::move(column));
  }
  return columns;
}

void AppendBarColumns(const std::vector<std::vector<Cell>>& cells,
                      std::vector<TextColumn>* columns) {
  const auto shares = SharesOf(cells);
  if (!shares) return;
  const double largest = std::ranges::max(*shares);
  TextColumn share{.header = "Share", .right = true};
  TextColumn bar;
  for (const double part : *shares) {
    share.cells.push_back(ShareText(part));
    bar.cells.push_back(BarText(part / largest, kBarWidth));
  }
  columns->push_back(std::move(share));
  columns->push_back(std::move(bar));
}

// The row's label over it, unless the section's title has just said it.
void AppendLabel(const RowShape& row, std::string_view title,
                 std::string* out) {
  if (row.label == title) return;
  *out += std::string(kIndent, ' ') + std::string(row.label) + "\n\n";
}

void AppendTable(const RowShape& row, const RowValue& value,
                 std::string_view title, size_t width, std::string* out) {
  if (value.cells.empty()) {
    *out += std::string(kIndent, ' ') + std::string(row.label) + ": none\n";
    return;
  }
  std::vector<TextColumn> columns = ColumnsOf(row, value.cells);
  if (row.kind == RowKind::kBars) AppendBarColumns(value.cells, &columns);
  AppendLabel(row, title, out);
  *out += LayoutTable(columns, 2 * kIndent, width);
  if (row.kind == RowKind::kBars && !SharesOf(value.cells)) {
    *out += std::string(2 * kIndent, ' ') +
            "(no shares: the sum of the parts is not known or zero)\n";
  }
}

// Findings -----------------------------------------------------------------

std::string Painted(Severity severity, bool colour) {
  const std::string name(NameOf(severity));
  if (!colour) return name;
  switch (severity) {
    case Severity::kBlock:
      return "\x1b[1;31m" + name + "\x1b[0m";
    case Severity::kWarn:
      return "\x1b[33m" + name + "\x1b[0m";
    case Severity::kInfo:
      return name;
  }
  return name;
}

// "why: …" wrapped under itself.
void AppendPart(const std::string& head, const std::string& text, size_t indent,
                size_t width, std::string* out) {
  const size_t start = indent + head.size();
  const auto lines = Wrap(text, width - start);
  *out += std::string(indent, ' ') + head + lines[0] + "\n";
  for (size_t i = 1; i < lines.size(); ++i) {
    *out += std::string(start, ' ') + lines[i] + "\n";
  }
}

// A fix can be pasted, so its lines stay whole.
void AppendFix(const std::string& fix, size_t indent, size_t width,
               std::string* out) {
  const std::vector<std::string> lines = HarmlessLines(fix);
  if (lines.size() == 1 && lines[0].find(' ') == std::string::npos) {
    *out += std::string(indent, ' ') + "fix: " + lines[0] + "\n";
  } else if (lines.size() == 1) {
    AppendPart("fix: ", lines[0], indent, width, out);
  } else {
    *out += std::string(indent, ' ') + "fix:\n";
    for (const std::string& line : lines) {
      *out += std::string(indent + 2, ' ') + line + "\n";
    }
  }
}

void AppendFinding(const Finding& finding, const TextStyle& style,
                   std::string* out) {
  const size_t width = WidthOf(style);
  const size_t indent = 2 * kIndent;
  *out += std::string(kIndent, ' ') + Painted(finding.severity, style.colour) +
          "  " + Harmless(finding.rule) + "\n";
  AppendPart("", Harmless(finding.what), indent, width, out);
  const std::string place = Harmless(ToString(finding.place));
  if (!place.empty()) AppendPart("at ", place, indent, width, out);
  std::string caret = HarmlessCaretBlock(finding.place);
  for (size_t at = 0; at < caret.size(); at = caret.find('\n', at) + 1) {
    caret.insert(at, indent, ' ');
  }
  *out += caret;
  if (!finding.why.empty()) {
    AppendPart("why: ", Harmless(finding.why), indent, width, out);
  }
  if (!finding.fix.empty()) AppendFix(finding.fix, indent, width, out);
}

void AppendFindings(const RowShape& row, const RowValue& value,
                    const TextStyle& style, std::string* out) {
  if (value.findings.empty()) {
    *out += std::string(kIndent, ' ') + std::string(row.label) + ": none\n";
    return;
  }
  for (size_t i = 0; i < value.findings.size(); ++i) {
    if (i > 0) *out += "\n";
    AppendFinding(value.findings[i], style, out);
  }
}

void AppendPreformatted(const RowShape& row, const RowValue& value,
                        std::string_view title, std::string* out) {
  AppendLabel(row, title, out);
  for (const std::string& line : HarmlessLines(value.cell.text())) {
    if (!line.empty()) *out += std::string(2 * kIndent, ' ') + line;
    *out += "\n";
  }
}

// Sections -----------------------------------------------------------------

void AppendSection(const Document& document, const SectionShape& section,
                   const TextStyle& style, std::string* out) {
  if (!document.Shows(section)) return;
  if (!out->empty()) *out += "\n";
  if (!section.title.empty()) *out += std::string(section.title) + "\n\n";
  std::vector<FieldLine> fields;
  bool first = true;
  const auto part = [&first, out] {
    if (!first) *out += "\n";
    first = false;
  };
  const auto flush = [&] {
    if (fields.empty()) return;
    part();
    AppendFields(fields, WidthOf(style), out);
    fields.clear();
  };
  for (const RowShape& row : section.rows) {
    if (!document.Shows(row)) continue;
    const RowValue& value = document.ValueOf(row);
    if (row.kind == RowKind::kField) {
      fields.push_back(LineOf(row, value.cell));
      continue;
    }
    flush();
    part();
    switch (row.kind) {
      case RowKind::kTable:
      case RowKind::kBars:
        AppendTable(row, value, section.title,
                    style.wrap_tables ? WidthOf(style) : kUnbounded, out);
        break;
      case RowKind::kFindings:
        AppendFindings(row, value, style, out);
        break;
      case RowKind::kPreformatted:
        AppendPreformatted(row, value, section.title, out);
        break;
      case RowKind::kField:
        break;
    }
  }
  flush();
}

}  // namespace

std::string RenderText(const Document& document, const TextStyle& style) {
  document.CheckComplete();
  std::string out;
  for (const SectionShape& section : document.shape().sections) {
    AppendSection(document, section, style, &out);
  }
  return out;
}

}  // namespace foretell
