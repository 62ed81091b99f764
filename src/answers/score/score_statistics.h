// The figures of a group of comparisons: medians, quantiles, shares.
//
// In: scores. Out: figures by key. `median` is the median of the relative
// errors; where rows name a `group`, the median of those groups' medians, so
// that one long sweep does not decide (a row without one is its own). `p90`
// and `p95` are over all of them, interpolated between ranks. `bias` is the
// geometric mean of predicted over measured. Shares count all comparisons that
// have the kind of error that they speak of; `coverage90` counts predictions
// that state an interval.
#ifndef FORETELL_ANSWERS_SCORE_SCORE_STATISTICS_H_
#define FORETELL_ANSWERS_SCORE_SCORE_STATISTICS_H_

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "answers/score/score_row.h"

namespace foretell {

// A key of a group, how it is shown, and what it says.
struct ScoreKey {
  std::string_view name = {};
  std::string_view label = {};
  bool is_count = false;
  std::string_view doc = {};
};

// Every key that a group may have, in the order in which they are shown.
inline constexpr std::array<ScoreKey, 20> kScoreKeys = {{
    {"n", "N", true, "How many comparisons."},
    {"median", "Median", false,
     "The median relative error, of the groups' medians where rows name "
     "groups."},
    {"p90", "P90", false, "Nine of ten relative errors are below."},
    {"p95", "P95", false, "95 of a hundred relative errors are below."},
    {"bias", "Bias", false, "The geometric mean of predicted over measured."},
    {"share_equal", "Equal", false, "The share that is equal."},
    {"share_0_5pct", "0.5 %", false, "The share within half a percent."},
    {"share_1pct", "1 %", false, "The share within one percent."},
    {"share_2pct", "2 %", false, "The share within two percent."},
    {"share_5pct", "5 %", false, "The share within five percent."},
    {"coverage90", "Covered", false,
     "The share of truths inside the stated 90 % interval."},
    {"recall", "Recall", false,
     "The share of runs out of memory that were foretold."},
    {"precision", "Precision", false,
     "The share of foretold failures that failed."},
    {"n_out_of_memory", "Failed", true, "Runs that ran out of memory."},
    {"n_ran", "Ran", true, "Runs that ran."},
    {"ran", "Started", true, "Starts that ran."},
    {"ran_blocked", "Blocked", true, "Starts that ran and were blocked here."},
    {"refused", "Refused", true, "Starts that were refused."},
    {"refused_told", "Told", true, "Refused starts that were foretold."},
    {"cannot_tell", "Cannot tell", true, "Starts of which nothing is told."},
}};

using ScoreFigures = std::map<std::string, double>;
using ScoreGroups = std::map<std::string, ScoreFigures>;

// Between ranks as NumPy's default does: position q (n - 1) of the sorted
// values. A check fails where there are none.
double QuantileOf(std::vector<double> values, double q);

ScoreFigures FiguresOf(const std::vector<const Score*>& scores);

// One entry a group that any score names.
ScoreGroups GroupsOf(const std::vector<Score>& scores);

}  // namespace foretell

#endif  // FORETELL_ANSWERS_SCORE_SCORE_STATISTICS_H_
