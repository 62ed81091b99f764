// The options that say what a training job is, beside those of its step: their
// rows, and the job they make.
//
// In: a parsed command line. Out: the job, the card and the global batch.
// Throws InputErrors with the place on the command line.
#ifndef FORETELL_FRONT_TRAIN_OPTIONS_H_
#define FORETELL_FRONT_TRAIN_OPTIONS_H_

#include <vector>

#include "answers/train.h"
#include "front/command_table.h"
#include "front/invocation.h"

namespace foretell {

std::vector<OptionRow> TrainRows();

// Everything but the configuration.
TrainRequest ReadTrainRequest(const Invocation& invocation);

}  // namespace foretell

#endif  // FORETELL_FRONT_TRAIN_OPTIONS_H_
