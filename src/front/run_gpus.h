// `foretell gpus` and `foretell gpu`: from a command line to a report.
//
// In: the invocation. Out: the outcome. Throws InputErrors: a card that none
// is, a description that cannot be read, neither or both of them.
#ifndef FORETELL_FRONT_RUN_GPUS_H_
#define FORETELL_FRONT_RUN_GPUS_H_

#include "front/command_table.h"
#include "front/invocation.h"

namespace foretell {

CommandRow GpusCommand();
CommandRow GpuCommand();

Outcome RunGpus(const Invocation& invocation);
Outcome RunGpu(const Invocation& invocation);

}  // namespace foretell

#endif  // FORETELL_FRONT_RUN_GPUS_H_
