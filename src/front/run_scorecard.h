// `foretell scorecard`: every truth set of a folder at once.
//
// Throws InputErrors for a folder that is none, and for a file in it that
// cannot be read; a set that it lacks is told.
#ifndef FORETELL_FRONT_RUN_SCORECARD_H_
#define FORETELL_FRONT_RUN_SCORECARD_H_

#include "front/invocation.h"

namespace foretell {

Outcome RunScorecard(const Invocation& invocation);

}  // namespace foretell

#endif  // FORETELL_FRONT_RUN_SCORECARD_H_
