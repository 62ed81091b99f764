// `foretell run`: keeps, lists and removes the user's own measured runs.
//
// In: the invocation. Out: the outcome. Throws InputErrors: a job that cannot
// be predicted, a figure that is none of its kind, a file that is no store.
#ifndef FORETELL_FRONT_RUN_RUNS_H_
#define FORETELL_FRONT_RUN_RUNS_H_

#include "front/command_table.h"
#include "front/invocation.h"

namespace foretell {

CommandRow RunCommand();
Outcome RunRuns(const Invocation& invocation);

}  // namespace foretell

#endif  // FORETELL_FRONT_RUN_RUNS_H_
