#include <algorithm>
#include <iterator>
#include <utility>

#include "analysis/folded_memory.h"
#include "analysis/memory.h"
#include "analysis/occupancy.h"
#include "answers/claims.h"
#include "answers/train_account.h"
#include "answers/train_overlay.h"
#include "base/checked.h"
#include "graph/operation_row.h"

namespace foretell {
namespace {

// accelerate hands the outputs of a forward under autocast on in float32.
// Source: accelerate 1.15, utils/operations.py (ConvertOutputsToFp32).
DType DTypeOfReturned(const Logits& logits, const StepCase& step) {
  return step.autocast ? DType::kFloat32 : logits.storages.front().dtype;
}

}  // namespace

std::optional<std::variant<ForwardMemory, Refusal>> AccountForward(
    const AccountRequest& request) {
  CompiledStep& compiled = *request.compiled;
  const Graph& graph = compiled.graph();
  ForwardMemory out;
  out.not_exact = ReasonsNotExact(compiled, *request.step);
  const std::vector<int64_t> copies = CopiesOfRegions(graph, request.repeats);
  auto laid = LayOver(compiled, *request.step, *request.job, copies);
  if (auto* refusal = std::get_if<Refusal>(&laid)) return std::move(*refusal);
  const Overlay& overlay = std::get<Overlay>(laid);
  std::ranges::copy(overlay.not_exact, std::back_inserter(out.not_exact));
  const auto memory = AnalyzeMemory(graph, overlay.beside);
  if (!memory) return TooLargeJob();
  const std::vector<uint8_t> categories(graph.storages.size());
  FoldRequest fold = {.memory = &*memory,
                      .categories = categories,
                      .beside = overlay.beside,
                      .resident = {},
                      .repeats = request.repeats};
  if (overlay.share) fold.shifts = overlay.share->shifts;
  const auto phases = FoldMemory(graph, fold);
  if (!phases) return std::nullopt;
  const FoldedPhase& forward = phases->front();
  out.above = forward.peak;
  if (forward.at.valid()) {
    const Operation& operation = graph.operations[forward.at.index];
    out.operation = operation.row->name;
    out.module = graph.PathOf(operation.region);
  }
  if (!overlay.logits.storages.empty()) {
    const auto bytes =
        CheckedMul(overlay.logits.count(),
                   BytesOf(DTypeOfReturned(overlay.logits, *request.step)));
    if (!bytes) return TooLargeJob();
    out.logits = *bytes;
  }
  if (request.most_points > 0) {
    const Occupancy occupancy(graph, *memory, {.returned = compiled.returned});
    out.timeline = occupancy.Points(request.most_points);
  }
  return out;
}

}  // namespace foretell
