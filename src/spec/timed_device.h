// A card together with what is known of its kernels' times.
//
// Made by input/timed_device from the catalogue and data/kernels; read by
// analysis/timing.
#ifndef FORETELL_SPEC_TIMED_DEVICE_H_
#define FORETELL_SPEC_TIMED_DEVICE_H_

#include <memory>

#include "spec/device.h"
#include "spec/kernel_coefficients.h"

namespace foretell {

struct TimedDevice {
  Device device;
  // Of this very card; null where it was not measured.
  std::shared_ptr<const KernelCoefficients> own = nullptr;
  // Over all measured cards, by their specifications; null where none is held.
  std::shared_ptr<const KernelCoefficients> any = nullptr;
};

}  // namespace foretell

#endif  // FORETELL_SPEC_TIMED_DEVICE_H_
