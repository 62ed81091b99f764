// `foretell schema`: the JSON schema of a command's answer.
//
// In: a command's name. Out: JSON Schema 2020-12. Throws InputErrors for a name
// that no command has.
#ifndef FORETELL_FRONT_RUN_SCHEMA_H_
#define FORETELL_FRONT_RUN_SCHEMA_H_

#include "front/invocation.h"

namespace foretell {

Outcome RunSchema(const Invocation& invocation);

}  // namespace foretell

#endif  // FORETELL_FRONT_RUN_SCHEMA_H_
