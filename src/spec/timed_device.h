// A card together with what is known of its kernels' times.
//
// Made by input/timed_device from the catalogue and data/kernels; read by
// analysis/timing.
#ifndef FORETELL_SPEC_TIMED_DEVICE_H_
#define FORETELL_SPEC_TIMED_DEVICE_H_

#include "spec/device.h"

namespace foretell {

struct TimedDevice {
  Device device;
};

}  // namespace foretell

#endif  // FORETELL_SPEC_TIMED_DEVICE_H_
