#include "engines/pytorch/device_memory.h"

namespace foretell {
namespace {

constexpr double kGib = 1073741824.0;

Bytes Estimate(double low, double middle, double high, const char* source) {
  return Bytes::Estimated(middle * kGib, low * kGib, high * kGib, source);
}

}  // namespace

int64_t CublasWorkspaceBytes(int capability) {
  constexpr int64_t kThreads = 2;  // the loop's, and autograd's
  constexpr int64_t kKib = 1024;
  const int64_t each =
      capability / 10 == 9 ? kKib * 4096 * 8 : kKib * 4096 * 2 + kKib * 16 * 8;
  return kThreads * each;
}

Bytes AllocatorSlack(const Bytes& allocated) {
  const double bytes = allocated.any().value().value_or(0);
  constexpr double kLow = 0.0;
  constexpr double kMiddle = 0.05;
  constexpr double kHigh = 0.25;
  return Bytes::Estimated(bytes * kMiddle, bytes * kLow, bytes * kHigh,
                          "reserved over allocated in measured runs");
}

Bytes AllocatorSlack(const Bytes& allocated, double made, BatchSizes sizes) {
  struct Share {
    double low;
    double middle;
    double high;
  };
  Share of_made{};
  switch (sizes) {
    case BatchSizes::kOne:
      return AllocatorSlack(allocated);
    case BatchSizes::kMany:
      of_made = {-0.4, 0.35, 1.8};
      break;
    case BatchSizes::kManyAndEvaluation:
      of_made = {-0.4, 1.7, 3.6};
      break;
  }
  const double bytes = allocated.any().value().value_or(0);
  constexpr double kAlways = 0.03;
  return Bytes::Estimated(bytes * kAlways + made * of_made.middle,
                          made * of_made.low,
                          bytes * kAlways + made * of_made.high,
                          "reserved over allocated in measured runs");
}

Bytes ContextBytes() {
  return Estimate(0.3, 0.6, 1.4, "contexts of measured runs");
}

Bytes CommunicatorBytes(int64_t gpus) {
  if (gpus <= 1) return Bytes::Exact(0);
  return Estimate(0.3, 1.5, 3.0, "process groups of measured runs");
}

}  // namespace foretell
