// Every comparison of a score as a line of JSON, for tables and fits of one's
// own.
//
// In: comparisons. Out: lines with "set", "line" and "id" of the row, "model",
// "quantity", "groups", "measured" and "predicted" (numbers, null where there
// is none), "error", "covered" (null where no interval was stated).
#ifndef FORETELL_REPORT_SCORE_POINTS_H_
#define FORETELL_REPORT_SCORE_POINTS_H_

#include <span>
#include <string>
#include <string_view>

#include "answers/score/score_row.h"

namespace foretell {

// The file's first line, so that nothing else is overwritten.
inline constexpr std::string_view kPointsMark = "foretell score points";
inline constexpr std::string_view kPointsHead =
    "{\"kind\":\"foretell score points\"}\n";

std::string PointLines(std::string_view set, std::span<const Score> scores);

}  // namespace foretell

#endif  // FORETELL_REPORT_SCORE_POINTS_H_
