// Outside text made harmless for a terminal, and measured in its columns.
//
// Ids, paths and configuration strings are written by strangers: they may
// hold escape sequences that retitle or repaint a terminal, marks that reverse
// the reading direction, or bytes that are no UTF-8. Every renderer sends its
// texts through here.
//
//   Harmless("a\x1b[2Jb");  // "a\\x1b[2Jb"
#ifndef FORETELL_REPORT_SAFE_TEXT_H_
#define FORETELL_REPORT_SAFE_TEXT_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/place.h"

namespace foretell {

// Invalid bytes become U+FFFD each; everything else stays.
std::string ValidUtf8(std::string_view text);

// One line of visible characters: line breaks and tabs become "\n", "\t";
// other control characters and invalid bytes "\x1b"; direction marks,
// invisible and separator characters "\u202e".
std::string Harmless(std::string_view text);

// The lines of `text`, each made harmless; tabs become eight spaces. A line
// break at the very end opens no further line.
std::vector<std::string> HarmlessLines(std::string_view text);

// The columns that harmless text takes in a terminal: two for wide East Asian
// characters and emoji, none for combining marks. Ranges are those of Unicode
// 15 EastAsianWidth.txt, joined to blocks.
size_t DisplayWidth(std::string_view text);

// `text` with spaces up to `width` columns, after or before it.
std::string PadRight(std::string_view text, size_t width);
std::string PadLeft(std::string_view text, size_t width);

// Lines of at most `width` columns: broken at spaces, else after one of
// "./", of "_-,:", else between a small letter and a capital, else anywhere.
// Nothing is left out but the spaces at breaks. At least one line.
std::vector<std::string> Wrap(std::string_view text, size_t width);

// CaretBlock of base/place.h with its excerpt made harmless and the caret
// moved to the column where that byte now stands. Lines are indented by two.
std::string HarmlessCaretBlock(const Place& place);

}  // namespace foretell

#endif  // FORETELL_REPORT_SAFE_TEXT_H_
