// The figures of a compiled step under the names that recordings and reports
// use: FLOPs by operator and phase, what autograd keeps, peaks.
//
// In: a compiled step. Out: whole numbers, exact; nothing where a size passes
// 2^63 - 1.
#ifndef FORETELL_ANSWERS_STEP_FIGURES_H_
#define FORETELL_ANSWERS_STEP_FIGURES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "analysis/memory.h"
#include "answers/compile_step.h"

namespace foretell {

struct StepFigures {
  // By operator as torch.utils.flop_counter names it: "aten.mm".
  std::map<std::string, int64_t> flops_forward;
  std::map<std::string, int64_t> flops_backward;
  // "saved_bytes", "saved_count", "live_after_forward", "gradient_bytes",
  // "optimizer_bytes", "peak_forward", "peak_backward", "peak_optimizer",
  // "cache_bytes"; what a mode does not have is absent.
  std::map<std::string, int64_t> figures;
  StepMemory memory;
};

std::optional<StepFigures> FiguresOf(const CompiledStep& step);

}  // namespace foretell

#endif  // FORETELL_ANSWERS_STEP_FIGURES_H_
