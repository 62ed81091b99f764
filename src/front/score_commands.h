// The rows of the command table that compare with measurements: `score` of one
// set, `scorecard` of all.
//
// Out: rows as front/command_table.h asks for them.
#ifndef FORETELL_FRONT_SCORE_COMMANDS_H_
#define FORETELL_FRONT_SCORE_COMMANDS_H_

#include "front/command_table.h"

namespace foretell {

CommandRow ScoreCommand();
CommandRow ScorecardCommand();

}  // namespace foretell

#endif  // FORETELL_FRONT_SCORE_COMMANDS_H_
