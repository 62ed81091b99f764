#include "input/timed_device.h"

#include <utility>

namespace foretell {

TimedDevice WithTimes(Device device) { return {std::move(device)}; }

}  // namespace foretell
