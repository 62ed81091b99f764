// Bars: how the parts of a whole compare, as figures, shares and drawn lines.
//
// In: figures of one unit. Out: shares of their known sum and bars of equal
// scale; an unknown part has no bar. Widths are in columns of the terminal.
#ifndef FORETELL_REPORT_BARS_H_
#define FORETELL_REPORT_BARS_H_

#include <optional>
#include <string>
#include <vector>

#include "report/document.h"

namespace foretell {

// Each part's share of the sum of all, from 0 to 1. Nothing where a part is
// unknown or negative, or where the sum is zero: shares of an incomplete sum
// would mislead.
std::optional<std::vector<double>> SharesOf(
    const std::vector<std::vector<Cell>>& cells);

// "46.1 %"; "<0.1 %" for what would round to nothing.
std::string ShareText(double share);

// `share` of `width` columns in eighths of a block character.
std::string BarText(double share, int width);

}  // namespace foretell

#endif  // FORETELL_REPORT_BARS_H_
