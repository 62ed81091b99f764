// The measured kernel times that the program holds for a card.
//
// In: a card of the catalogue, or one described by its user. Out: the card
// with its coefficients (data/kernels), which live as long as the program
// and are read once; a card that was not measured has only those that were
// fitted over all measured cards by their specifications.
#ifndef FORETELL_INPUT_TIMED_DEVICE_H_
#define FORETELL_INPUT_TIMED_DEVICE_H_

#include "spec/timed_device.h"

namespace foretell {

TimedDevice WithTimes(Device device);

}  // namespace foretell

#endif  // FORETELL_INPUT_TIMED_DEVICE_H_
