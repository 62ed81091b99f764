// Which kernels scaled_dot_product_attention picked in a step's forward, how
// often, and why not the ones that it asks first.
//
// In: the graph of a step and its card. Out: one row per kernel and reason, in
// the order in which they first run; none where attention is eager.
// Source: models/layers/sdpa_choice.h, whose rules are told again in words of
// each call that the graph holds.
#ifndef FORETELL_ANSWERS_ATTENTION_KERNELS_H_
#define FORETELL_ANSWERS_ATTENTION_KERNELS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "spec/step_case.h"

namespace foretell {

struct AttentionKernel {
  std::string kernel;  // "cuDNN", "flash", "memory-efficient", "math"
  int64_t calls = 0;
  std::string why;
};

std::vector<AttentionKernel> AttentionKernels(const Graph& graph,
                                              const StepCase& step);

}  // namespace foretell

#endif  // FORETELL_ANSWERS_ATTENTION_KERNELS_H_
