#include "answers/step_figures.h"

#include <utility>

#include "analysis/flops.h"

namespace foretell {
namespace {

// False where a count passes 2^63 - 1.
bool AddFlops(const Graph& graph, Phase phase,
              std::map<std::string, int64_t>& out) {
  for (const OperationFlops& entry : AnalyzeFlops(graph, phase)) {
    if (!entry.flops.is_exact()) return false;
    out[CounterNameOf(entry.operation)] += entry.flops.exact();
  }
  return true;
}

}  // namespace

std::optional<StepFigures> FiguresOf(const CompiledStep& step) {
  StepFigures out;
  const Graph& graph = step.graph();
  if (!AddFlops(graph, Phase::kForward, out.flops_forward) ||
      !AddFlops(graph, Phase::kBackward, out.flops_backward)) {
    return std::nullopt;
  }
  auto memory = AnalyzeMemory(graph);
  if (!memory) return std::nullopt;
  out.memory = *std::move(memory);
  bool trains = false;
  for (const PhaseMemory& phase : out.memory.phases) {
    trains = trains || phase.phase == Phase::kBackward;
    out.figures["peak_" + std::string(NameOf(phase.phase))] = phase.peak;
  }
  if (trains) {
    const KeptMemory kept = AnalyzeKept(graph);
    out.figures["saved_bytes"] = kept.bytes;
    out.figures["saved_count"] = kept.count;
    out.figures["live_after_forward"] = out.memory.live_after_forward;
    out.figures["gradient_bytes"] = step.gradient_bytes;
    out.figures["optimizer_bytes"] = step.optimizer_bytes;
  }
  if (step.cache_bytes) out.figures["cache_bytes"] = *step.cache_bytes;
  return out;
}

}  // namespace foretell
