// A picture of predicted against measured: a panel a quantity, both axes by
// powers of ten, the diagonal where both agree and a band of a factor of two
// about it. A point's colour says whether the stated 90 % interval holds the
// measurement.
//
// In: panels. Out: one SVG file that needs nothing beside it. Names from
// outside are made harmless and escaped; points that fall on one another are
// drawn once.
#ifndef FORETELL_REPORT_SCATTER_SVG_H_
#define FORETELL_REPORT_SCATTER_SVG_H_

#include <span>
#include <string>
#include <string_view>

#include "answers/score/score_panels.h"

namespace foretell {

// Stands near the start of every file that this writes.
inline constexpr std::string_view kScatterMark = "foretell scorecard picture";

std::string ScatterSvg(std::span<const ScorePanel> panels,
                       std::string_view title);

}  // namespace foretell

#endif  // FORETELL_REPORT_SCATTER_SVG_H_
