// A fitted model of kernel times, evaluated at a point.
//
// In: the model of the point's kind, whose kernels run, and the completed
// point. Out: microseconds with the 90 % interval, which series it rests on
// and how far from what was measured. A few microseconds a call: two sums of
// at most three hundred trees.
//
// The series is the one of the point's words; where the framework, the
// version or a dtype was not measured, the nearest is taken and told.
#ifndef FORETELL_ANALYSIS_TIMING_KERNEL_SURFACE_H_
#define FORETELL_ANALYSIS_TIMING_KERNEL_SURFACE_H_

#include <string_view>

#include "analysis/timing/kernel_point.h"
#include "spec/kernel_coefficients.h"

namespace foretell {

struct SurfaceTime {
  double us = 0;
  double low = 0;
  double high = 0;
  // The largest of the first guess' parts: -1 the fixed one, else the index
  // into the model's basis.
  int largest_part = -1;
  double octaves_outside = 0;  // of the sizes that were measured
  bool other_framework = false;
  bool other_dtype = false;
  const KernelSeries* series = nullptr;
};

SurfaceTime Evaluate(const KernelModel& model, std::string_view framework,
                     std::string_view version, const KernelPoint& point);

}  // namespace foretell

#endif  // FORETELL_ANALYSIS_TIMING_KERNEL_SURFACE_H_
