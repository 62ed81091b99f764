// A file of measured kernel times, one curve a line.
//
// In: KIND.csv.gz (or .csv) in a folder SYSTEM, as aiconfigurator's tables were
// unpacked: a line of column names, then a curve a line; cells of one size
// hold one value, swept ones and `time_us` a list split by blanks. Out: one
// record a curve, whose fields are its cells as texts, with `system` and
// `kind` told from the path, and the card where the system is a known one.
// Where the path tells no kind, its columns do not either: an error says so.
//
// Throws InputErrors: a file that cannot be read or unpacked within limits, a
// line with another number of cells, a path that names no kind.
#ifndef FORETELL_INPUT_KERNEL_TABLE_H_
#define FORETELL_INPUT_KERNEL_TABLE_H_

#include <string>

#include "spec/measured_row.h"

namespace foretell {

MeasuredRows LoadKernelTable(const std::string& path);

// A pure function of the text; `path` is shown, and tells system and kind.
MeasuredRows ParseKernelTable(const std::string& text, const std::string& path);

}  // namespace foretell

#endif  // FORETELL_INPUT_KERNEL_TABLE_H_
