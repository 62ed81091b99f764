// Where the time of a step or of a prompt goes, as `foretell speed` tells it:
// the same words for every engine.
//
// In: a phase's time by what it goes to, a request. Out: parts above zero, in
// one order; what takes the largest; the load, its cost and its room. Pure.
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

// "1024 tokens in, 256 out".
std::string LoadWords(const SpeedRequest& request);

// Dollars of a million tokens that come at `rate` a second, by the price.
double CostOfMillion(const SpeedRequest& request, double rate);

// Whether the caches of `groups` of cards, each of which holds `capacity`
// requests, have room for `requests`.
std::string RoomWords(double capacity, double groups, double requests);

std::string LimitOf(const PhaseTime& step, double interference);

}  // namespace foretell

#endif  // FORETELL_ANSWERS_SPEED_PARTS_H_
