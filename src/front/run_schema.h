// `foretell schema`: the JSON schema of a command's answer.
#ifndef FORETELL_FRONT_RUN_SCHEMA_H_
#define FORETELL_FRONT_RUN_SCHEMA_H_

#include "front/invocation.h"

namespace foretell {

Outcome RunSchema(const Invocation& invocation);

}  // namespace foretell

#endif  // FORETELL_FRONT_RUN_SCHEMA_H_
