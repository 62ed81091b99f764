// A table laid out in columns of text: what the terminal renderer draws.
//
// Cells are harmless text already. Numbers stand right-aligned and are never
// broken; texts are wrapped within their column where the table would be wider
// than the page. Nothing is ever cut: a table of numbers alone may be wider.
#ifndef FORETELL_REPORT_TEXT_TABLE_H_
#define FORETELL_REPORT_TEXT_TABLE_H_

#include <cstddef>
#include <string>
#include <vector>

namespace foretell {

struct TextColumn {
  std::string header = {};
  bool right = false;    // numbers
  bool wraps = false;    // texts
  bool is_note = false;  // gives way before other texts are wrapped
  std::vector<std::string> cells = {};  // one a row; as many in every column
};

// Lines with their breaks: header, rule, rows. Each starts with `indent`
// spaces and, where it can, ends before `width` columns.
std::string LayoutTable(const std::vector<TextColumn>& columns, size_t indent,
                        size_t width);

}  // namespace foretell

#endif  // FORETELL_REPORT_TEXT_TABLE_H_
