// The FLOPs of one training step under the conventions in which papers and
// tools quote them, why two of them differ, and what a counter leaves out.
//
// In: a graph whose forward, and where it trains also backward, is written;
// which of its operations a backward ran again (Tape::recomputed); and how many
// tokens went in.
// Out: whole numbers; a multiply-add is two FLOPs, but in the row that counts
// multiply-adds. N counts a tied tensor once.
//
//   torch       what torch.utils.flop_counter adds up
//   torch-host  the same on a CPU, whose fused attention it does not know
//   executed    every matrix product and convolution, grouped ones as well
//   model       `executed` without what checkpointing runs again: MFU's
//   causal      `model` with half of attention: what a causal mask leaves
//   macs        multiply-adds of the forward alone (ptflops, fvcore, calflops)
//   6ND         6 N D with all parameters (Hoffmann et al.)
//   6ND-tables  without tables that are only looked up (Kaplan et al.)
//   6ND-active  6 N D with those parameters that a token meets
//   PaLM        6ND-active and 12 L H Q T per token
//
// Source: torch 2.15, torch/utils/flop_counter.py (flop_registry);
// arXiv:2001.08361 section 2.1, arXiv:2203.15556 appendix F, arXiv:2204.02311
// appendix B. 12 L H Q T per token is three times what a forward multiplies in
// attention over all pairs, and is taken from there.
// Does not model: FLOPs of operations on single elements, which none counts.
#ifndef FORETELL_ANALYSIS_FLOPS_CONVENTIONS_H_
#define FORETELL_ANALYSIS_FLOPS_CONVENTIONS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/parameters.h"
#include "base/figure.h"
#include "graph/graph.h"
#include "graph/tape.h"

namespace foretell {

// What a step multiplies, by what the conventions tell apart.
struct ProductFlops {
  int64_t forward = 0;
  int64_t backward = 0;    // without what was run again
  int64_t recomputed = 0;  // of the forward, run again by a backward
  // Parts of the sum of these three.
  int64_t grouped = 0;  // one product per expert; the counter leaves them out
  int64_t fused = 0;    // in fused attention kernels
  // Queries with keys, and their shares with values.
  int64_t attention_forward = 0;   // part of `forward`
  int64_t attention_backward = 0;  // part of `backward`

  int64_t Model() const { return forward + backward; }
  int64_t Executed() const { return forward + backward + recomputed; }
};

// Nothing where a sum passes 2^63 - 1.
std::optional<ProductFlops> MeasureProducts(
    const Graph& graph, std::span<const OperationRange> recomputed);

struct FlopsConvention {
  std::string_view name;  // "6ND"
  std::string_view rule;  // what it counts, for people
  Flops flops;            // unknown past 2^63 - 1
};

// In the order above. A convention that says what another one does is left
// out: torch-host without a fused kernel, 6ND-active without experts, and all
// that a backward makes where nothing trains.
std::vector<FlopsConvention> FlopsConventions(
    const ProductFlops& products, const ParameterAnalysis& parameters,
    int64_t tokens);

// A step from 6 N D towards what is executed; its sign is part of it.
struct FlopsTerm {
  std::string_view what;
  int64_t flops = 0;
};

// 6 N D first; all terms add up to `executed`. The last, "other", is what no
// rule explains: matrices that meet fewer tokens, gradients that nobody needs.
// It is left out where it is nothing. Empty past 2^63 - 1.
std::vector<FlopsTerm> ReconcileFlops(const ProductFlops& products,
                                      const ParameterAnalysis& parameters,
                                      int64_t tokens);

// An operation that torch's counter has no formula for.
struct UncountedOperation {
  std::string_view name;  // "aten.mul.Tensor"
  int64_t times = 0;
  int64_t flops = 0;  // of grouped products; 0 for work on single elements
};

// Most FLOPs first, then most often. Views and what moves no data are in it.
std::vector<UncountedOperation> UncountedOperations(const Graph& graph);

}  // namespace foretell

#endif  // FORETELL_ANALYSIS_FLOPS_CONVENTIONS_H_
