// `foretell model`: what a model is made of.
//
// In: TARGET and options. Out: the report. Throws InputErrors for what cannot
// be read, and for a class that no family has.
#ifndef FORETELL_FRONT_RUN_MODEL_H_
#define FORETELL_FRONT_RUN_MODEL_H_

#include "front/invocation.h"

namespace foretell {

Outcome RunModel(const Invocation& invocation);

}  // namespace foretell

#endif  // FORETELL_FRONT_RUN_MODEL_H_
