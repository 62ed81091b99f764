// Predicted against measured, as a picture shows it: one panel a quantity of a
// set.
//
// In: comparisons. Out: panels with positive pairs of numbers; the quantities
// with the most comparisons first. Texts, verdicts and what was not predicted
// have no place in a picture and are left out.
#ifndef FORETELL_ANSWERS_SCORE_SCORE_PANELS_H_
#define FORETELL_ANSWERS_SCORE_SCORE_PANELS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "answers/score/score_row.h"

namespace foretell {

struct ScorePoint {
  double measured = 0;
  double predicted = 0;
  std::optional<bool> covered;  // by the stated 90 % interval
};

struct ScorePanel {
  std::string set;
  std::string quantity;
  double median_error = 0;  // relative, of the points
  std::vector<ScorePoint> points;
};

// A panel of fewer points shows nothing that its figures do not tell.
inline constexpr size_t kLeastPoints = 8;

std::vector<ScorePanel> PanelsOf(const std::string& set,
                                 std::span<const Score> scores);

}  // namespace foretell

#endif  // FORETELL_ANSWERS_SCORE_SCORE_PANELS_H_
