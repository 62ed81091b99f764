// A bar of the command line: "NAME.KEY<=X" or "NAME.KEY>=X".
//
// In: the text. Out: the bar, or what is wrong with it: no comparison, a key
// that no group has, a limit that is no number. NAME may hold dots
// ("by_task.sft.median<=0.05"); a limit may be a percentage ("2%").
#ifndef FORETELL_FRONT_SCORE_BAR_H_
#define FORETELL_FRONT_SCORE_BAR_H_

#include <optional>
#include <string>

#include "answers/score/score.h"

namespace foretell {

// The bar, or the problem with its cure: never both.
struct ScoreBarResult {
  std::optional<ScoreBar> bar;
  std::string what;
  std::string cure;
};

ScoreBarResult ReadScoreBar(const std::string& text);

}  // namespace foretell

#endif  // FORETELL_FRONT_SCORE_BAR_H_
