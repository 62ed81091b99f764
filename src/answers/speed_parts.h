// Where the time of a step or of a prompt goes, as `foretell speed` tells it:
// the same words for every engine.
//
// In: a phase's time by what it goes to. Out: parts above zero, in one order;
// what takes the largest. Pure.
#ifndef FORETELL_ANSWERS_SPEED_PARTS_H_
#define FORETELL_ANSWERS_SPEED_PARTS_H_

#include <functional>
#include <string>
#include <vector>

#include "analysis/timing/serving_phases.h"
#include "answers/speed.h"

namespace foretell {

// `interference` is what others' prompts take of it. `figure` gives seconds
// their interval: a part is as sure as the whole.
void AddSpeedParts(const PhaseTime& time, double share, double interference,
                   const std::function<AnyFigure(double)>& figure,
                   std::vector<SpeedPart>& out);

std::string LimitOf(const PhaseTime& step, double interference);

}  // namespace foretell

#endif  // FORETELL_ANSWERS_SPEED_PARTS_H_
