// `foretell score`: how near predictions come to what others measured.
//
// In: a set, the rows of a file, and bars to hold the result against. Out:
// statistics by group, the comparisons that are farthest off, and for every
// row that was not compared the reason. A row may be left out only for what it
// lacks, never for being wrong: where nothing can be predicted although the
// row says all that matters, the relative error is 1.
#ifndef FORETELL_ANSWERS_SCORE_SCORE_H_
#define FORETELL_ANSWERS_SCORE_SCORE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "answers/score/peer_points.h"
#include "answers/score/score_set.h"
#include "answers/score/score_statistics.h"
#include "spec/measured_row.h"

namespace foretell {

// "all.share_0_5pct>=0.88".
struct ScoreBar {
  std::string text;   // as it was written
  std::string group;  // "all"
  std::string key;    // "share_0_5pct"
  bool at_least = false;
  double limit = 0;
};

struct BarOutcome {
  ScoreBar bar;
  std::optional<double> value;  // nothing: no such group or figure here
  bool holds = false;
};

struct ScoreAnswer {
  std::string set;
  int64_t rows = 0;
  int64_t scored = 0;                       // with at least one comparison
  std::map<std::string, int64_t> left_out;  // by reason
  ScoreGroups groups;
  std::vector<Score> worst;  // at most kMostWorst, the farthest first
  std::vector<BarOutcome> bars;
  std::vector<Score> scores;  // all, in the rows' order, where asked for

  bool FallsShort() const;
};

// Enough to explain one by one what a set of several hundred rows misses.
inline constexpr size_t kMostWorst = 100;

struct ScoreRequest {
  const ScoreSet* set = nullptr;
  MeasuredRows rows;
  std::vector<ScoreBar> bars;
  const ServingSource* serving = nullptr;  // outlives the answer
  bool keeps_scores = false;               // for pictures and tables of points
  PeerPoints peers = {};  // of another tool, on some of the rows
};

ScoreAnswer AnswerScore(const ScoreRequest& request);

}  // namespace foretell

#endif  // FORETELL_ANSWERS_SCORE_SCORE_H_
