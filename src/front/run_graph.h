// `foretell graph`: which operations one step of a model executes.
#ifndef FORETELL_FRONT_RUN_GRAPH_H_
#define FORETELL_FRONT_RUN_GRAPH_H_

#include "front/invocation.h"

namespace foretell {

Outcome RunGraph(const Invocation& invocation);

}  // namespace foretell

#endif  // FORETELL_FRONT_RUN_GRAPH_H_
