#include "analysis/flops.h"

#include <algorithm>
#include <map>

#include "graph/operation_row.h"

namespace foretell {

std::vector<OperationFlops> AnalyzeFlops(const Graph& graph) {
  std::map<std::string_view, OperationFlops> totals;
  for (const Operation& operation : graph.operations) {
    if (operation.row->flops == nullptr) continue;
    std::vector<Value> inputs;
    std::vector<Value> outputs;
    for (const ValueId id : graph.InputsOf(operation)) {
      inputs.push_back(graph[id]);
    }
    for (const ValueId id : graph.OutputsOf(operation)) {
      outputs.push_back(graph[id]);
    }
    OperationFlops& total = totals[operation.row->name];
    total.operation = operation.row->name;
    ++total.times;
    total.flops += Flops::Exact(operation.row->flops(inputs, outputs));
  }
  std::vector<OperationFlops> out;
  for (auto& [name, total] : totals) out.push_back(std::move(total));
  std::ranges::stable_sort(out, [](const auto& a, const auto& b) {
    return a.flops.any().value() > b.flops.any().value();
  });
  return out;
}

}  // namespace foretell
