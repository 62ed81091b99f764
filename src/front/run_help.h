// `foretell help`: how the program or one command is used.
#ifndef FORETELL_FRONT_RUN_HELP_H_
#define FORETELL_FRONT_RUN_HELP_H_

#include "front/invocation.h"

namespace foretell {

Outcome RunHelp(const Invocation& invocation);

}  // namespace foretell

#endif  // FORETELL_FRONT_RUN_HELP_H_
