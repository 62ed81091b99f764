#include "report/text_table.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"
#include "report/safe_text.h"

namespace foretell {
namespace {

constexpr size_t kGap = 2;  // between columns
// A text column is not squeezed below this while another can give.
constexpr size_t kNarrowest = 12;

// What a column takes where nothing is wrapped.
size_t NaturalWidth(const TextColumn& column) {
  size_t width = DisplayWidth(column.header);
  for (const std::string& cell : column.cells) {
    width = std::max(width, DisplayWidth(cell));
  }
  return width;
}

size_t Total(const std::vector<size_t>& widths) {
  return std::accumulate(widths.begin(), widths.end(), size_t{0}) +
         kGap * (widths.size() - 1);
}

// The widest column that can give; the number of columns where none can.
size_t WidestOf(const std::vector<TextColumn>& columns,
                const std::vector<size_t>& widths, bool notes) {
  size_t widest = columns.size();
  for (size_t i = 0; i < columns.size(); ++i) {
    const TextColumn& column = columns[i];
    if (!column.wraps || column.is_note != notes || widths[i] <= kNarrowest) {
      continue;
    }
    if (widest == columns.size() || widths[i] > widths[widest]) widest = i;
  }
  return widest;
}

// Narrows the notes, then the widest texts, until the table fits or no text
// can give more.
void Squeeze(const std::vector<TextColumn>& columns, size_t available,
             std::vector<size_t>* widths) {
  for (const bool notes : {true, false}) {
    while (Total(*widths) > available) {
      const size_t widest = WidestOf(columns, *widths, notes);
      if (widest == columns.size()) break;
      --(*widths)[widest];
    }
  }
}

void TrimRight(std::string* line) {
  while (!line->empty() && line->back() == ' ') line->pop_back();
}

// One row of the table; its cells may take several lines.
void AppendRow(const std::vector<std::vector<std::string>>& cells,
               const std::vector<TextColumn>& columns,
               const std::vector<size_t>& widths, size_t indent,
               std::string* out) {
  size_t height = 1;
  for (const auto& lines : cells) height = std::max(height, lines.size());
  for (size_t at = 0; at < height; ++at) {
    std::string line(indent, ' ');
    for (size_t i = 0; i < columns.size(); ++i) {
      if (i > 0) line.append(kGap, ' ');
      const std::string cell = at < cells[i].size() ? cells[i][at] : "";
      line += columns[i].right ? PadLeft(cell, widths[i])
                               : PadRight(cell, widths[i]);
    }
    TrimRight(&line);
    *out += line + "\n";
  }
}

std::string Rule(const std::vector<size_t>& widths, size_t indent) {
  std::string line(indent, ' ');
  for (size_t i = 0; i < widths.size(); ++i) {
    if (i > 0) line.append(kGap, ' ');
    for (size_t column = 0; column < widths[i]; ++column) line += "─";
  }
  return line + "\n";
}

}  // namespace

std::string LayoutTable(const std::vector<TextColumn>& columns, size_t indent,
                        size_t width) {
  FORETELL_CHECK(!columns.empty(), "a table without columns");
  const size_t rows = columns[0].cells.size();
  std::vector<size_t> widths;
  for (const TextColumn& column : columns) {
    FORETELL_CHECK(column.cells.size() == rows, "columns of unequal length");
    widths.push_back(NaturalWidth(column));
  }
  Squeeze(columns, width > indent ? width - indent : 1, &widths);

  const auto lines_of = [&](const std::string& cell, size_t i) {
    return columns[i].wraps ? Wrap(cell, widths[i])
                            : std::vector<std::string>{cell};
  };
  std::string out;
  std::vector<std::vector<std::string>> cells(columns.size());
  for (size_t i = 0; i < columns.size(); ++i) {
    cells[i] = lines_of(columns[i].header, i);
  }
  AppendRow(cells, columns, widths, indent, &out);
  out += Rule(widths, indent);
  for (size_t row = 0; row < rows; ++row) {
    for (size_t i = 0; i < columns.size(); ++i) {
      cells[i] = lines_of(columns[i].cells[row], i);
    }
    AppendRow(cells, columns, widths, indent, &out);
  }
  return out;
}

}  // namespace foretell
