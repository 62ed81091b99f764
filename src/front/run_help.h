// `foretell help`: how the program or one command is used.
//
// In: nothing, or a command's name. Out: text. Throws InputErrors for a name
// that no command has.
#ifndef FORETELL_FRONT_RUN_HELP_H_
#define FORETELL_FRONT_RUN_HELP_H_

#include "front/invocation.h"

namespace foretell {

Outcome RunHelp(const Invocation& invocation);

}  // namespace foretell

#endif  // FORETELL_FRONT_RUN_HELP_H_
