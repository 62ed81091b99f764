// The options that say what one step is, shared by every command that compiles
// one: their rows, and the case they make.
//
// In: a parsed command line. Out: a StepCase. Throws InputErrors with the
// place on the command line.
#ifndef FORETELL_FRONT_STEP_OPTIONS_H_
#define FORETELL_FRONT_STEP_OPTIONS_H_

#include <vector>

#include "answers/step.h"
#include "base/input_error.h"
#include "front/command_table.h"
#include "front/invocation.h"

namespace foretell {

// --layers, --class, --dtype: which model is built.
std::vector<OptionRow> BuildRows();
// --mode, --batch, --seq, … --torch: which step it runs.
std::vector<OptionRow> StepRows();

struct StepSetting {
  BuildOptions build;
  StepCase step;
};

// Of a command that has all of these rows.
StepSetting ReadStepSetting(const Invocation& invocation);

// Errors whose place names an option ("--layers") point at its word.
InputErrors AtOptions(const Invocation& invocation,
                      std::vector<InputError> errors);

}  // namespace foretell

#endif  // FORETELL_FRONT_STEP_OPTIONS_H_
