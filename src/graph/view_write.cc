#include "graph/view_write.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/check.h"
#include "graph/tape.h"

namespace foretell {
namespace {

// The operations that led from `base` to `view`, the first one first.
std::vector<OperationId> ViewsBetween(const Graph& graph, ValueId base,
                                      ValueId view) {
  std::vector<OperationId> views;
  for (size_t at = graph.operations.size(); at-- > 0 && view != base;) {
    const Operation& operation = graph.operations[at];
    if (graph.OutputsOf(operation)[0] != view) continue;
    views.push_back(OperationId{static_cast<uint32_t>(at)});
    view = graph.InputsOf(operation)[0];
  }
  FORETELL_CHECK(view == base,
                 "what is written through is no view of the base");
  std::ranges::reverse(views);
  return views;
}

}  // namespace

Tensor SeeAgain(Tensor base, std::span<const OperationId> views) {
  Builder& builder = base.builder();
  for (const OperationId id : views) {
    const Operation operation = builder.graph().operations[id.index];
    const auto stated = builder.graph().AttributesOf(operation);
    const std::vector<Attribute> attributes(stated.begin(), stated.end());
    std::vector<Tensor> seen =
        builder.EmitMany(*operation.row, std::span(&base, 1), attributes);
    base = std::move(seen[0]);
  }
  return base;
}

ViewWrite WriteThrough(Tensor base, Tensor view,
                       const std::function<Tensor(Tensor)>& write) {
  Builder& builder = base.builder();
  if (!builder.failure().empty()) return {std::move(base), std::move(view)};
  Graph& graph = builder.graph();
  ViewWriteRecord record;
  record.base = base.id();
  record.views = ViewsBetween(graph, base.id(), view.id());
  const Tensor written = write(view);
  const OperationId operation{
      static_cast<uint32_t>(graph.operations.size() - 1)};
  if (!builder.failure().empty() || !builder.tape().Has(operation)) {
    return {std::move(base), std::move(view)};
  }
  const std::vector<OperationId> views = record.views;
  Tensor rebased = builder.Rebased(base);
  record.rebased = rebased.id();
  builder.tape().RecordViewWrite(operation, std::move(record));
  Tensor seen = SeeAgain(rebased, views);
  return {std::move(rebased), std::move(seen)};
}

}  // namespace foretell
