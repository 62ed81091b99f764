// `foretell scorecard`: every truth set at once, formulas held apart from
// measurements of devices, beside what others publish of themselves.
//
// In: the answers of `score` and `verify` to each file of a folder, or, without
// one, the figures that were measured last, with their date. Out: one line a
// group of comparisons, and which sets the folder lacks.
//
// A line is a formula's where the truth is a library's or an engine's own
// arithmetic, which should be equal; a device's where a card was measured.
#ifndef FORETELL_ANSWERS_SCORECARD_H_
#define FORETELL_ANSWERS_SCORECARD_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "answers/score/score.h"
#include "answers/verify.h"
#include "spec/scorecard.h"

namespace foretell {

struct ScorecardAnswer {
  std::string truth;  // the folder; empty: figures measured before
  std::string date;   // when those were measured
  std::vector<ScorecardLine> lines;
  std::vector<std::string> missing;  // files that the folder has not
  std::vector<PeerFigure> peers;
};

// Whether a set's truth is arithmetic, which should be equal.
bool IsFormula(std::string_view set);

// Adds a set's groups; those of parts ("tpot.sglang") are left to `score`.
void AddScore(const ScoreAnswer& score, ScorecardAnswer& card);
// Adds a recording's figures under its file's name.
void AddVerify(const std::string& name, const VerifyAnswer& verified,
               ScorecardAnswer& card);

}  // namespace foretell

#endif  // FORETELL_ANSWERS_SCORECARD_H_
