// `foretell graph`: which operations one step of a model executes.
//
// In: TARGET and sizes. Out: the operations as text, the document for --json.
// Throws InputErrors for what cannot be read or built.
#ifndef FORETELL_FRONT_RUN_GRAPH_H_
#define FORETELL_FRONT_RUN_GRAPH_H_

#include "front/invocation.h"

namespace foretell {

Outcome RunGraph(const Invocation& invocation);

}  // namespace foretell

#endif  // FORETELL_FRONT_RUN_GRAPH_H_
