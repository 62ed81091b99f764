// `foretell serve`: reads the launch, finds the card and the model, and asks.
//
// In: a parsed command line; what stands behind `--` is the launch. Out: the
// report; the exit status is 1 where the engine would refuse the launch.
// Throws InputErrors with places on the command line.
#ifndef FORETELL_FRONT_RUN_SERVE_H_
#define FORETELL_FRONT_RUN_SERVE_H_

#include "front/invocation.h"

namespace foretell {

Outcome RunServe(const Invocation& invocation);

}  // namespace foretell

#endif  // FORETELL_FRONT_RUN_SERVE_H_
