// FLOPs of a graph, as torch.utils.flop_counter counts them: a multiply-add is
// two, and only operations that the counter registers.
//
// In: a graph. Out: a total per operation; unknown past 2^63 - 1. What the
// counter leaves out (element-wise operations, grouped products) has no row
// here. Source: torch 2.15, torch/utils/flop_counter.py.
#ifndef FORETELL_ANALYSIS_FLOPS_H_
#define FORETELL_ANALYSIS_FLOPS_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/figure.h"
#include "graph/graph.h"

namespace foretell {

struct OperationFlops {
  std::string operation;  // "aten.mm.default"
  int64_t times = 0;      // how often it runs
  Flops flops;
};

// "aten.mm" of "aten.mm.default": the counter knows operators, not their
// overloads.
std::string CounterNameOf(std::string_view operation);

// Operations that count, most FLOPs first; of one phase where it is given.
std::vector<OperationFlops> AnalyzeFlops(
    const Graph& graph, std::optional<Phase> phase = std::nullopt);

// FLOPs of one operation; nothing past 2^63 - 1, zero where it does not count.
std::optional<int64_t> FlopsOf(const Graph& graph, const Operation& operation);

}  // namespace foretell

#endif  // FORETELL_ANALYSIS_FLOPS_H_
