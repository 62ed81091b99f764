#include "answers/step_tables.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "analysis/flops.h"
#include "graph/operation_row.h"
#include "graph/phase_walk.h"

namespace foretell {
namespace {

bool IsIndex(std::string_view name) {
  return !name.empty() &&
         std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; });
}

// "a.b.3.c" as its parts.
std::vector<std::string> PartsOf(std::string_view path) {
  std::vector<std::string> out;
  while (!path.empty()) {
    const size_t dot = path.find('.');
    out.emplace_back(path.substr(0, dot));
    if (dot == std::string_view::npos) break;
    path.remove_prefix(dot + 1);
  }
  return out;
}

std::string Join(const std::vector<std::string>& parts, size_t count) {
  std::string out;
  for (size_t i = 0; i < count; ++i) out += (i > 0 ? "." : "") + parts[i];
  return out;
}

// The operation that makes each storage; none for those that none makes.
std::vector<OperationId> MakersOf(const Graph& graph) {
  std::vector<OperationId> out(graph.storages.size());
  for (uint32_t i = 0; i < graph.operations.size(); ++i) {
    for (const ValueId value : graph.OutputsOf(graph.operations[i])) {
      OperationId& maker = out[graph[value].storage.index];
      if (!maker.valid()) maker = OperationId{i};
    }
  }
  return out;
}

// By storage: what autograd keeps, as AnalyzeKept counts it.
std::vector<bool> KeptStorages(const Graph& graph) {
  std::vector<bool> out(graph.storages.size());
  for (const Saved& saved : graph.saved) {
    if (saved.is_recomputed) continue;
    const StorageId storage = graph[saved.value].storage;
    if (graph.storages[storage.index].kind != StorageKind::kActivation) {
      continue;
    }
    out[storage.index] = true;
  }
  return out;
}

// Which line of the table a module belongs to.
class Lines {
 public:
  explicit Lines(const CompiledStep& step)
      : graph_(step.graph()), class_name_(step.model.built.class_name) {
    for (uint32_t i = 0; i < graph_.regions.size(); ++i) {
      of_region_.push_back(LineOf(RegionId{i}));
    }
  }

  StepModule& Of(RegionId region) { return rows[of_region_[region.index]]; }
  StepModule& Of(const Operation& operation, Phase phase) {
    if (phase != Phase::kOptimizer) return Of(operation.region);
    return rows[Line("(optimizer)", "")];
  }

  std::vector<StepModule> rows;

 private:
  size_t LineOf(RegionId region) {
    RegionId block = region;
    while (block.valid() && graph_[block].kind != RegionKind::kBlock) {
      block = graph_[block].parent;
    }
    const std::vector<std::string> parts = PartsOf(graph_.PathOf(region));
    if (parts.empty()) return Line("(" + class_name_ + ")", "");
    if (!block.valid()) {
      // As deep as a part of the model under its base: "bert.embeddings".
      const std::string name = Join(parts, std::min<size_t>(parts.size(), 2));
      return Line(name, name);
    }
    const size_t depth = PartsOf(graph_.PathOf(block)).size();
    size_t count = std::min(parts.size(), depth + 1);
    if (count < parts.size() && IsIndex(parts[count])) ++count;
    std::vector<std::string> folded = parts;
    if (IsIndex(folded[depth - 1])) folded[depth - 1] = "*";
    return Line(Join(folded, count), Join(parts, count));
  }

  size_t Line(const std::string& name, const std::string& path) {
    const auto [at, is_new] = by_name_.try_emplace(name, rows.size());
    if (is_new) rows.push_back({.name = name});
    if (paths_.insert(name + "\n" + path).second) ++rows[at->second].times;
    return at->second;
  }

  const Graph& graph_;
  std::string class_name_;
  std::map<std::string, size_t> by_name_;
  std::set<std::string> paths_;
  std::vector<size_t> of_region_;
};

// The module that a storage is counted under at the peak.
class Owners {
 public:
  explicit Owners(const CompiledStep& step)
      : graph_(step.graph()), region_(graph_.storages.size()) {
    const std::vector<OperationId> makers = MakersOf(graph_);
    for (size_t i = 0; i < makers.size(); ++i) {
      if (makers[i].valid()) {
        region_[i] = graph_.operations[makers[i].index].region;
      }
    }
    std::map<uint32_t, RegionId> by_leaf;
    for (const Parameter& parameter : graph_.parameters) {
      if (!parameter.tied_to) by_leaf[parameter.value.index] = parameter.region;
    }
    for (const OptimizerState& state : step.optimizer.states) {
      const auto leaf = by_leaf.find(state.leaf.index);
      if (leaf == by_leaf.end()) continue;
      region_[graph_[state.tensor.id()].storage.index] = leaf->second;
    }
  }

  // The root where nothing tells.
  RegionId Of(StorageId storage) const {
    const RegionId region = region_[storage.index];
    return region.valid() ? region : RegionId{0};
  }

 private:
  const Graph& graph_;
  std::vector<RegionId> region_;  // by storage
};

void AddResident(const Graph& graph, Lines& lines) {
  std::vector<bool> seen(graph.storages.size());
  const auto add = [&](ValueId value, RegionId region) {
    const StorageId storage = graph[value].storage;
    if (seen[storage.index]) return;
    seen[storage.index] = true;
    lines.Of(region).at_peak += graph.storages[storage.index].bytes;
  };
  for (const Parameter& parameter : graph.parameters) {
    add(parameter.value, parameter.region);
  }
  for (const Buffer& buffer : graph.buffers) add(buffer.value, buffer.region);
  for (const ValueId input : graph.inputs) add(input, RegionId{0});
}

bool IsEmpty(const StepModule& row) {
  return row.flops_forward == 0 && row.flops_backward == 0 && row.kept == 0 &&
         row.at_peak == 0;
}

}  // namespace

std::vector<StepOperator> OperatorsOf(const CompiledStep& step) {
  const Graph& graph = step.graph();
  std::map<const OperationRow*, StepOperator> by_row;
  ForEachOperation(graph, [&](const Operation& operation, Phase phase) {
    StepOperator& row = by_row[operation.row];
    row.name = operation.row->name;
    ++row.calls;
    const int64_t flops = FlopsOf(graph, operation).value_or(0);
    (phase == Phase::kForward ? row.flops_forward : row.flops_backward) +=
        flops;
  });
  const std::vector<OperationId> makers = MakersOf(graph);
  const std::vector<bool> kept = KeptStorages(graph);
  for (uint32_t i = 0; i < makers.size(); ++i) {
    if (!makers[i].valid() || !kept[i]) continue;
    by_row[graph.operations[makers[i].index].row].kept +=
        graph.storages[i].bytes;
  }
  std::vector<StepOperator> out;
  for (auto& [row, line] : by_row) out.push_back(std::move(line));
  std::ranges::sort(out, [](const StepOperator& a, const StepOperator& b) {
    const int64_t flops_a = a.flops_forward + a.flops_backward;
    const int64_t flops_b = b.flops_forward + b.flops_backward;
    if (flops_a != flops_b) return flops_a > flops_b;
    if (a.kept != b.kept) return a.kept > b.kept;
    return a.name < b.name;
  });
  return out;
}

std::vector<StepModule> ModulesOf(const CompiledStep& step,
                                  const Occupancy& occupancy,
                                  const PhaseMemory& peak) {
  const Graph& graph = step.graph();
  Lines lines(step);
  ForEachOperation(graph, [&](const Operation& operation, Phase phase) {
    StepModule& row = lines.Of(operation, phase);
    const int64_t flops = FlopsOf(graph, operation).value_or(0);
    (phase == Phase::kForward ? row.flops_forward : row.flops_backward) +=
        flops;
  });
  const Owners owners(step);
  const std::vector<bool> kept = KeptStorages(graph);
  for (uint32_t i = 0; i < graph.storages.size(); ++i) {
    if (!kept[i]) continue;
    lines.Of(owners.Of({i})).kept += graph.storages[i].bytes;
  }
  AddResident(graph, lines);
  for (const StorageId storage : occupancy.LivingAt(peak)) {
    lines.Of(owners.Of(storage)).at_peak += graph.storages[storage.index].bytes;
  }
  std::erase_if(lines.rows, IsEmpty);
  return std::move(lines.rows);
}

}  // namespace foretell
