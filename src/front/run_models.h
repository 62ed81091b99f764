// `foretell models`: which models the catalogue knows.
#ifndef FORETELL_FRONT_RUN_MODELS_H_
#define FORETELL_FRONT_RUN_MODELS_H_

#include "front/invocation.h"

namespace foretell {

Outcome RunModels(const Invocation& invocation);

// `foretell complete-ids PREFIX`: the ids that begin so, one a line, for the
// shells' completion.
Outcome RunCompleteIds(const Invocation& invocation);
}  // namespace foretell

#endif  // FORETELL_FRONT_RUN_MODELS_H_
