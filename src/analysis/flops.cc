#include "analysis/flops.h"

#include <algorithm>
#include <map>

#include "graph/operation_row.h"
#include "graph/phase_walk.h"

namespace foretell {

std::string CounterNameOf(std::string_view operation) {
  return std::string(operation.substr(0, operation.rfind('.')));
}

std::optional<int64_t> FlopsOf(const Graph& graph, const Operation& operation) {
  if (operation.row->flops == nullptr) return 0;
  std::vector<Value> inputs;
  std::vector<Value> outputs;
  for (const ValueId id : graph.InputsOf(operation)) {
    inputs.push_back(graph[id]);
  }
  for (const ValueId id : graph.OutputsOf(operation)) {
    outputs.push_back(graph[id]);
  }
  return operation.row->flops(inputs, outputs);
}

std::vector<OperationFlops> AnalyzeFlops(const Graph& graph,
                                         std::optional<Phase> phase) {
  std::map<std::string_view, OperationFlops> totals;
  ForEachOperation(graph, [&](const Operation& operation, Phase current) {
    if (phase && current != *phase) return;
    if (operation.row->flops == nullptr) return;
    OperationFlops& total = totals[operation.row->name];
    total.operation = operation.row->name;
    ++total.times;
    total.flops += Flops::Exact(FlopsOf(graph, operation));
  });
  std::vector<OperationFlops> out;
  for (auto& [name, total] : totals) out.push_back(std::move(total));
  std::ranges::stable_sort(out, [](const auto& a, const auto& b) {
    return a.flops.any().value() > b.flops.any().value();
  });
  return out;
}

}  // namespace foretell
