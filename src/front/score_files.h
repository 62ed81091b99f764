// The files that `score` and `scorecard` write where asked: a picture of
// predicted against measured, and every comparison as a line of JSON.
//
// In: a parsed command line and the comparisons. Out: files. Throws InputErrors
// with the place on the command line where one cannot be written.
#ifndef FORETELL_FRONT_SCORE_FILES_H_
#define FORETELL_FRONT_SCORE_FILES_H_

#include <span>
#include <string>
#include <vector>

#include "answers/score/score_panels.h"
#include "front/command_table.h"
#include "front/invocation.h"

namespace foretell {

// --svg FILE and --points FILE.
std::vector<OptionRow> ScoreFileRows();

// Whether either was asked for, so that comparisons must be kept.
bool WantsScoreFiles(const Invocation& invocation);

struct ScoredSet {
  std::string set;
  std::vector<Score> scores;
};

void WriteScoreFiles(const Invocation& invocation,
                     std::span<const ScoredSet> sets);

}  // namespace foretell

#endif  // FORETELL_FRONT_SCORE_FILES_H_
