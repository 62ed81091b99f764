// A compiled step broken down: by operator, and by the module that ran it.
//
// In: a compiled step, its memory and what each storage is for. Out: one row a
// line, exact. Blocks that repeat are folded: "model.layers.*.mlp" stands for
// the feed-forward of every layer.
//
// The bytes at the peak of a module are its parameters, their gradients and
// states, and every tensor that its operations made and that lives then; over
// all rows they add up to the peak.
#ifndef FORETELL_ANSWERS_STEP_TABLES_H_
#define FORETELL_ANSWERS_STEP_TABLES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/memory.h"
#include "analysis/occupancy.h"
#include "answers/compile_step.h"

namespace foretell {

struct StepOperator {
  std::string name;  // "aten.mm.default"
  int64_t calls = 0;
  int64_t flops_forward = 0;
  int64_t flops_backward = 0;
  int64_t kept = 0;  // bytes that it made and that are kept for the backward
};

// By FLOPs, then by what is kept, most first.
std::vector<StepOperator> OperatorsOf(const CompiledStep& step);

struct StepModule {
  std::string name;   // "model.layers.*.mlp"
  int64_t times = 0;  // how many modules the line stands for
  int64_t flops_forward = 0;
  int64_t flops_backward = 0;
  int64_t kept = 0;     // bytes kept for the backward
  int64_t at_peak = 0;  // bytes that live at the step's peak
};

// In the order of the model.
std::vector<StepModule> ModulesOf(const CompiledStep& step,
                                  const Occupancy& occupancy,
                                  const PhaseMemory& peak);

}  // namespace foretell

#endif  // FORETELL_ANSWERS_STEP_TABLES_H_
