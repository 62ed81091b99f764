// What a step asks of a model that it cannot give, told before any operation
// is written: for `step` and `graph` alike.
//
// In: the model as its whole configuration builds it, and the case. Out: an
// error per option that does not fit; its place has the option's name as key
// ("--layers") and no source, so that `front` can point at the word.
#ifndef FORETELL_ANSWERS_STEP_CHECKS_H_
#define FORETELL_ANSWERS_STEP_CHECKS_H_

#include <vector>

#include "answers/read_model.h"
#include "base/input_error.h"
#include "models/build.h"
#include "rules/step_rules.h"
#include "spec/step_case.h"

namespace foretell {

std::vector<InputError> CheckStep(const ReadModel& whole,
                                  const BuildOptions& build,
                                  const StepCase& step);

// What the rules over a step see.
StepRuleInput RuleInputOf(const ReadModel& whole, const StepCase& step);

// The model without a limit of layers, for the two above; a refusal where it
// cannot be read.
std::variant<ReadModel, Refusal> ReadWhole(const ModelConfig& config,
                                           BuildOptions build);

}  // namespace foretell

#endif  // FORETELL_ANSWERS_STEP_CHECKS_H_
