// `foretell completion`: the completion script of a shell.
//
// In: bash, zsh or fish. Out: a script made from the command table; the command
// line refuses other shells.
#ifndef FORETELL_FRONT_RUN_COMPLETION_H_
#define FORETELL_FRONT_RUN_COMPLETION_H_

#include "front/invocation.h"

namespace foretell {

Outcome RunCompletion(const Invocation& invocation);

}  // namespace foretell

#endif  // FORETELL_FRONT_RUN_COMPLETION_H_
