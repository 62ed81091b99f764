#include "answers/score/score_panels.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

#include "answers/score/score_statistics.h"

namespace foretell {

std::vector<ScorePanel> PanelsOf(const std::string& set,
                                 std::span<const Score> scores) {
  std::map<std::string, ScorePanel> by_quantity;
  std::map<std::string, std::vector<double>> errors;
  for (const Score& score : scores) {
    if (!score.ratio || !(*score.ratio > 0) || !(score.measured_value > 0)) {
      continue;
    }
    ScorePanel& panel = by_quantity[score.quantity];
    panel.points.push_back({score.measured_value,
                            score.measured_value * *score.ratio,
                            score.covered});
    errors[score.quantity].push_back(score.error);
  }
  std::vector<ScorePanel> out;
  for (auto& [quantity, panel] : by_quantity) {
    if (panel.points.size() < kLeastPoints) continue;
    panel.set = set;
    panel.quantity = quantity;
    panel.median_error = QuantileOf(errors[quantity], 0.5);
    out.push_back(std::move(panel));
  }
  std::ranges::stable_sort(out, std::greater<>(), [](const ScorePanel& panel) {
    return panel.points.size();
  });
  return out;
}

}  // namespace foretell
