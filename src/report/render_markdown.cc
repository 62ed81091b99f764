#include "report/render_markdown.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include "report/bars.h"
#include "report/figure_text.h"
#include "report/safe_text.h"

namespace foretell {
namespace {

// Splits a word that GitHub would turn into a mention, an issue or a link; a
// comment is not shown, and mentions are looked for within one text node.
constexpr std::string_view kSplit = "<!-- -->";

constexpr char kNoValue[] = "–";

std::string CellText(const Cell& cell, CellType type, std::string_view label) {
  if (cell.empty()) return kNoValue;
  switch (type) {
    case CellType::kText:
      return cell.text().empty() ? kNoValue : MarkdownText(cell.text());
    case CellType::kInteger:
      return WithSeparators(cell.integer());
    case CellType::kReal:
      return RealText(cell.real());
    case CellType::kFlag:
      return cell.flag() ? "yes" : "no";
    case CellType::kFigure:
      return MarkdownText(FigureLine(cell.figure(), label));
    case CellType::kTexts: {
      std::string out;
      for (const std::string& text : cell.texts()) {
        if (!out.empty()) out += ", ";
        out += MarkdownText(text);
      }
      return out.empty() ? "none" : out;
    }
  }
  return kNoValue;
}

bool IsNumber(CellType type) {
  return type == CellType::kInteger || type == CellType::kReal ||
         type == CellType::kFigure;
}

bool IsWordCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0;
}

bool EndsWithWww(std::string_view text) {
  return text.size() >= 4 && text.back() == '.' &&
         std::ranges::all_of(text.substr(text.size() - 4, 3),
                             [](char c) { return c == 'w' || c == 'W'; });
}

// Whether GitHub may make a mention ("@name"), an issue ("#12") or a link
// ("https://", "www.") of what `before` ends with and `after` goes on with.
bool StartsReference(std::string_view before, std::string_view after) {
  if (after.empty()) return false;
  const char last = before.back();
  if (last == '@' || last == '#') return IsWordCharacter(after[0]);
  return before.ends_with(":/") || EndsWithWww(before);
}

void AppendTable(const RowShape& row, const RowValue& value, std::string* out) {
  if (value.cells.empty()) {
    *out += std::string(row.label) + ": none\n\n";
    return;
  }
  const auto shares =
      row.kind == RowKind::kBars ? SharesOf(value.cells) : std::nullopt;
  std::string rule = "|";
  *out += "|";
  for (size_t i = 0; i < row.columns.size(); ++i) {
    const ColumnShape& column = row.columns[i];
    if (!ShowsColumn(row, value.cells, i)) continue;
    *out += " " + MarkdownText(column.label) + " |";
    rule += IsNumber(column.type) ? " ---: |" : " --- |";
  }
  if (shares) {
    *out += " Share |";
    rule += " ---: |";
  }
  *out += "\n" + rule + "\n";
  for (size_t at = 0; at < value.cells.size(); ++at) {
    *out += "|";
    for (size_t i = 0; i < row.columns.size(); ++i) {
      const ColumnShape& column = row.columns[i];
      if (!ShowsColumn(row, value.cells, i)) continue;
      *out += " " + CellText(value.cells[at][i], column.type, column.label);
      *out += " |";
    }
    if (shares) *out += " " + MarkdownText(ShareText((*shares)[at])) + " |";
    *out += "\n";
  }
  *out += "\n";
}

void AppendFinding(const Finding& finding, std::string* out) {
  *out += "- **" + std::string(NameOf(finding.severity)) + "** " +
          MarkdownText(finding.rule) + ": " + MarkdownText(finding.what) + "\n";
  const std::string place = ToString(finding.place);
  const auto part = [out](std::string_view name, std::string_view text) {
    if (text.empty()) return;
    *out += "  - " + std::string(name) + ": " + MarkdownText(text) + "\n";
  };
  part("at", place);
  part("why", finding.why);
  part("fix", finding.fix);
}

void AppendFindings(const RowShape& row, const RowValue& value,
                    std::string* out) {
  if (value.findings.empty()) {
    *out += std::string(row.label) + ": none\n";
  }
  for (const Finding& finding : value.findings) AppendFinding(finding, out);
  *out += "\n";
}

void AppendRow(const RowShape& row, const RowValue& value,
               std::string_view title, std::string* out) {
  const bool needs_label = row.label != title && row.kind != RowKind::kFindings;
  const bool is_empty_table =
      value.cells.empty() &&
      (row.kind == RowKind::kTable || row.kind == RowKind::kBars);
  if (needs_label && !is_empty_table) {
    *out += "**" + MarkdownText(row.label) + "**\n\n";
  }
  switch (row.kind) {
    case RowKind::kTable:
    case RowKind::kBars:
      return AppendTable(row, value, out);
    case RowKind::kFindings:
      return AppendFindings(row, value, out);
    case RowKind::kPreformatted:
      *out += MarkdownCode(value.cell.text(), "text") + "\n";
      return;
    case RowKind::kField:
      return;
  }
}

void AppendSection(const Document& document, const SectionShape& section,
                   std::string* out) {
  if (!document.Shows(section)) return;
  if (!section.title.empty()) {
    *out += "## " + MarkdownText(section.title) + "\n\n";
  }
  bool in_list = false;
  for (const RowShape& row : section.rows) {
    if (!document.Shows(row)) continue;
    const RowValue& value = document.ValueOf(row);
    if (row.kind == RowKind::kField) {
      *out += "- " + MarkdownText(row.label) + ": " +
              CellText(value.cell, row.type, row.label) + "\n";
      in_list = true;
      continue;
    }
    if (in_list) *out += "\n";
    in_list = false;
    AppendRow(row, value, section.title, out);
  }
  if (in_list) *out += "\n";
}

}  // namespace

std::string MarkdownText(std::string_view text) {
  // What CommonMark and GitHub's extensions give a meaning inside a line;
  // what has one at its start only ("1.", "-") never stands there alone,
  // since every text follows a bullet or a bar, except for these two.
  constexpr std::string_view kSpecial = "\\`*_[]<>|~&$";
  const std::string harmless = Harmless(text);
  std::string out;
  for (size_t i = 0; i < harmless.size(); ++i) {
    const char c = harmless[i];
    const bool starts_block =
        i == 0 && std::string_view("#+-=").find(c) != std::string_view::npos;
    if (starts_block || kSpecial.find(c) != std::string_view::npos) out += '\\';
    out += c;
    if (StartsReference(std::string_view(harmless).substr(0, i + 1),
                        std::string_view(harmless).substr(i + 1))) {
      out += kSplit;
    }
  }
  return out;
}

std::string MarkdownCode(std::string_view text, std::string_view language) {
  size_t longest = 0;
  size_t run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(std::max<size_t>(3, longest + 1), '`');
  std::string out = fence + std::string(language) + "\n";
  for (const std::string& line : HarmlessLines(text)) out += line + "\n";
  return out + fence + "\n";
}

std::string RenderMarkdown(const Document& document) {
  document.CheckComplete();
  std::string out = "# " + MarkdownText(document.shape().title) + "\n\n";
  for (const SectionShape& section : document.shape().sections) {
    AppendSection(document, section, &out);
  }
  out.pop_back();  // one line break at the end
  return out;
}

}  // namespace foretell
