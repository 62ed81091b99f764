#include "input/timed_device.h"

#include <utility>

#include "input/kernel_coefficients.h"

namespace foretell {

TimedDevice WithTimes(Device device) {
  TimedDevice out;
  out.own = CoefficientsOf(device.id);
  out.any = CoefficientsOf("any");
  out.device = std::move(device);
  return out;
}

}  // namespace foretell
