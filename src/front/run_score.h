// `foretell score`: compares predictions with measured records.
//
// Throws InputErrors for an unknown set, a bar that names no figure, a file
// that cannot be read.
#ifndef FORETELL_FRONT_RUN_SCORE_H_
#define FORETELL_FRONT_RUN_SCORE_H_

#include "front/invocation.h"

namespace foretell {

Outcome RunScore(const Invocation& invocation);

}  // namespace foretell

#endif  // FORETELL_FRONT_RUN_SCORE_H_
