// `foretell speed`: reads the job, finds the model and the card, and asks.
//
// In: a parsed command line. Out: the report. Throws InputErrors with places
// on the command line.
#ifndef FORETELL_FRONT_RUN_SPEED_H_
#define FORETELL_FRONT_RUN_SPEED_H_

#include "answers/speed.h"
#include "front/command_table.h"
#include "front/invocation.h"

namespace foretell {

// The command's row; `target` is the argument that names a model.
CommandRow SpeedCommand(ArgumentRow target);
// Everything but the configuration.
SpeedRequest ReadSpeedRequest(const Invocation& invocation);
Outcome RunSpeed(const Invocation& invocation);

}  // namespace foretell

#endif  // FORETELL_FRONT_RUN_SPEED_H_
