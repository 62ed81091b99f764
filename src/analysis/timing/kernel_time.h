// How long one kernel takes on a card, with an interval.
//
// In: the card, the engine whose kernels run, and a shape. Out: microseconds
// of the device, as in a replayed CUDA graph: what the host needs to launch a
// kernel (eager execution) and the gaps between kernels are not in it; a step
// takes the longer of both (analysis/timing composes them).
//
// Where the card's kernels were measured, the time is a fitted surface over
// the shape (data/kernels, tools/fit/kernels); where they were not, it comes
// from the card's specification with a wider interval, and `basis` says so.
// Never another card's measurements unsaid.
//
//   const TimedDevice h100 = WithTimes(FindDevice("h100-sxm"));
//   const Runtime vllm = {.framework = "vllm", .version = "0.24.0"};
//   const KernelTime t = TimeOf(h100, vllm, MatrixProduct{.m = 8, .n = 4096,
//                                                         .k = 4096});
//   t.us, t.low, t.high, t.reach, t.limit
#ifndef FORETELL_ANALYSIS_TIMING_KERNEL_TIME_H_
#define FORETELL_ANALYSIS_TIMING_KERNEL_TIME_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "analysis/timing/kernel_point.h"
#include "analysis/timing/kernel_shapes.h"
#include "spec/timed_device.h"

namespace foretell {

// Whose kernels run. A framework or version that was not measured takes the
// nearest that was, which `basis` names.
struct Runtime {
  std::string framework = "vllm";  // "vllm", "sglang", "trtllm", "pytorch"
  std::string version = {};        // empty: the newest measured
};

// Where the shape lies to the measured ones.
enum class Reach : uint8_t {
  kInside,
  kNear,     // up to a factor of two beyond, in any of its sizes
  kOutside,  // farther, or nothing of the kind was measured on the card
};

enum class Limit : uint8_t {
  kArithmetic,
  kMemory,
  kCommunication,
  kLaunch,  // the kernel's fixed part is the largest
};

std::string_view NameOf(Reach reach);  // "inside", "near the edge", "outside"
std::string_view NameOf(Limit limit);  // "arithmetic", "memory", …

struct KernelTime {
  double us = 0;
  double low = 0;  // ends of the 90 % interval
  double high = 0;
  Reach reach = Reach::kOutside;
  Limit limit = Limit::kLaunch;
  // The least time that the specification allows, by part.
  double arithmetic_us = 0;
  double memory_us = 0;
  // What the time rests on: "measured on h100-sxm, vllm 0.24.0", "the
  // specification". Points into storage that lives as long as the device's
  // coefficients.
  std::string_view basis = {};
  // What the card's description lacks for this shape; then the times are 0
  // and mean nothing. Empty where the time is known.
  std::string_view missing = {};

  bool is_known() const { return missing.empty(); }
};

KernelTime TimeOf(const TimedDevice& device, const Runtime& runtime,
                  const KernelShape& shape);

// The same of a point of the measured tables, completed here: kinds that no
// shape names (whole attention modules, recurrences) have a time so.
KernelTime TimeOfPoint(const TimedDevice& device, const Runtime& runtime,
                       KernelPoint point);

}  // namespace foretell

#endif  // FORETELL_ANALYSIS_TIMING_KERNEL_TIME_H_
