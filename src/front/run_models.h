// `foretell models`: which models the catalogue knows.
//
// In: words, or the beginning of an id. Out: the catalogue's entries. No word
// matching is an empty list, not an error.
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
