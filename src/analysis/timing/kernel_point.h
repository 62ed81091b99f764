// A kernel as the measured tables have it: its kind, its words (dtype,
// framework, …) and its numbers, from which all that times are fitted to is
// derived.
//
// In: a shape, or a table's row. Out: the point. `Complete` adds to a row's
// numbers what follows from them and the card: operations and bytes as
// microseconds at the specification's rates, tiles' counts, a rank's share.
// tools/fit/kernels/tables.py (derive) has the same formulas; score kernels
// and the fit's own predictions agree to four digits.
#ifndef FORETELL_ANALYSIS_TIMING_KERNEL_POINT_H_
#define FORETELL_ANALYSIS_TIMING_KERNEL_POINT_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/timing/kernel_shapes.h"
#include "spec/kernel_variable.h"
#include "spec/timed_device.h"

namespace foretell {

struct KernelPoint {
  std::string_view kind;  // "gemm"; empty: no table has such kernels
  // "dtype" -> "fp8"; without framework and version.
  std::vector<std::pair<std::string_view, std::string>> words;
  KernelVariables numbers = {};

  // Empty where it has none.
  std::string_view Word(std::string_view name) const;
};

KernelPoint PointOf(const KernelShape& shape, std::string_view framework);

// The dtype of a table's name for it.
std::optional<KernelDtype> KernelDtypeNamed(std::string_view name);

// Fills in what is derived. False where the card's description lacks what
// that needs.
bool Complete(const TimedDevice& device, KernelPoint& point);

}  // namespace foretell

#endif  // FORETELL_ANALYSIS_TIMING_KERNEL_POINT_H_
