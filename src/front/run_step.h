// `foretell step`: what one step of a model takes.
//
// In: TARGET and the step's options. Out: the report; a file where --timeline
// names one. Throws InputErrors for what cannot be read, built or written.
#ifndef FORETELL_FRONT_RUN_STEP_H_
#define FORETELL_FRONT_RUN_STEP_H_

#include "front/invocation.h"

namespace foretell {

Outcome RunStep(const Invocation& invocation);

}  // namespace foretell

#endif  // FORETELL_FRONT_RUN_STEP_H_
