// What a kernel must do at least: its floating-point operations, the bytes
// that it must move, and the bytes that cross links.
//
// In: a shape. Out: counts. A multiply-add is two operations. Weights,
// activations and cache are read once and results written once in bfloat16:
// what a kernel reads again is part of its measured efficiency.
//
//   matrix product  2mnk; weights nk at their dtype, mk, 2mn
//   attention       4 d per query head and pair of a query with a key that it
//                   sees; q and the result, keys and values
//   latent          prefill: 2 (192 + 128) a pair; decode: 2 (576 + 512)
//                   (DeepSeek-V2, arXiv 2405.04434, 2.1.2)
//   experts         6 hidden x intermediate a routed pair; the weights of
//                   those experts that any token chose
//   collective      by ring: 2 (r-1)/r of an all-reduce's bytes, (r-1)/r of
//                   the others' (nccl-tests, doc/PERFORMANCE.md)
#ifndef FORETELL_ANALYSIS_TIMING_KERNEL_WORK_H_
#define FORETELL_ANALYSIS_TIMING_KERNEL_WORK_H_

#include <string_view>

#include "analysis/timing/kernel_shapes.h"
#include "spec/device.h"

namespace foretell {

struct KernelWork {
  double flops = 0;
  double bytes = 0;
  double link_bytes = 0;
  KernelDtype dtype = KernelDtype::kBFloat16;  // of the arithmetic
};

KernelWork WorkOf(const KernelShape& shape);

// Bytes of a weight's or an activation's element, scales included.
double WeightBytesOf(KernelDtype dtype);
double ActivationBytesOf(KernelDtype dtype);

// The card's dense peak in 1e12 operations a second for this arithmetic; 0
// where its description has none. A dtype that the card does not multiply is
// done in bfloat16, or in float16 where it lacks that.
double PeakTflopsOf(const Device& device, KernelDtype dtype);

// The names of the measured tables: "bfloat16", "fp8_block", "int4_wo", …
std::string_view NameOf(KernelDtype dtype);

}  // namespace foretell

#endif  // FORETELL_ANALYSIS_TIMING_KERNEL_WORK_H_
