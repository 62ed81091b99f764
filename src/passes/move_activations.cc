#include "passes/move_activations.h"

#include <algorithm>
#include <map>
#include <optional>

#include "graph/operation_row.h"
#include "graph/phase_walk.h"

namespace foretell {
namespace {

// Tensors on their way to the host, and the least that is sent.
constexpr uint32_t kStash = 5;
constexpr int64_t kLeastBytes = 1024;

// The last operation of the forward and the first of the backward that touch a
// storage, as places in the order of operations.
struct Uses {
  std::optional<uint32_t> last_forward;
  std::optional<uint32_t> first_backward;
};

std::vector<Uses> UsesOf(const Graph& graph) {
  std::vector<Uses> out(graph.storages.size());
  ForEachOperation(graph, [&](const Operation& operation, Phase phase) {
    const auto at = static_cast<uint32_t>(&operation - graph.operations.data());
    const auto note = [&](ValueId id) {
      Uses& uses = out[graph[id].storage.index];
      if (phase == Phase::kForward) uses.last_forward = at;
      if (phase == Phase::kBackward && !uses.first_backward) {
        uses.first_backward = at;
      }
    };
    for (const ValueId id : graph.InputsOf(operation)) note(id);
    for (const ValueId id : graph.OutputsOf(operation)) note(id);
  });
  return out;
}

RegionId BlockOf(const Graph& graph, RegionId region) {
  while (region.valid() && graph[region].kind != RegionKind::kBlock) {
    region = graph[region].parent;
  }
  return region;
}

}  // namespace

MovedActivations OffloadActivations(const Graph& graph,
                                    const std::vector<bool>& kept) {
  MovedActivations out;
  const auto count = static_cast<uint32_t>(graph.operations.size());
  std::vector<int64_t> change(count + size_t{1});
  const std::vector<Uses> uses = UsesOf(graph);
  for (size_t i = 0; i < kept.size(); ++i) {
    const Storage& storage = graph.storages[i];
    if (!kept[i] || storage.kind != StorageKind::kActivation ||
        storage.bytes < kLeastBytes || !uses[i].last_forward) {
      continue;
    }
    const uint32_t gone = *uses[i].last_forward + kStash;
    // Fetched one operation ahead.
    const uint32_t back =
        std::max<uint32_t>(1, uses[i].first_backward.value_or(count)) - 1;
    if (gone >= back) continue;
    out.bytes += storage.bytes;
    change[gone] -= storage.bytes;
    change[back] += storage.bytes;
  }
  out.beside.resize(count);
  int64_t now = 0;
  for (uint32_t i = 0; i < count; ++i) {
    now += change[i];
    out.beside[i] = now;
  }
  return out;
}

MovedActivations RecomputeScores(Graph& graph, const std::vector<bool>& kept,
                                 int64_t sequence) {
  MovedActivations out;
  out.beside.resize(graph.operations.size());
  std::map<RegionId, int64_t> of_block;
  ForEachOperation(graph, [&](const Operation& operation, Phase phase) {
    if (phase != Phase::kForward) return;
    for (const ValueId id : graph.OutputsOf(operation)) {
      const Value& value = graph[id];
      Storage& storage = graph.storages[value.storage.index];
      const bool is_scores = value.shape.rank() >= 3 &&
                             value.shape[-1] == sequence &&
                             value.shape[-2] == sequence;
      if (!is_scores || !kept[value.storage.index] || storage.bytes == 0 ||
          storage.kind != StorageKind::kActivation) {
        continue;
      }
      of_block[BlockOf(graph, operation.region)] += storage.bytes;
      out.bytes += storage.bytes;
      storage.bytes = 0;
    }
  });
  ForEachOperation(graph, [&](const Operation& operation, Phase phase) {
    if (phase != Phase::kBackward) return;
    RegionId region = operation.region;
    while (region.valid() && graph[region].kind != RegionKind::kAttention) {
      region = graph[region].parent;
    }
    if (!region.valid()) return;
    const auto at = of_block.find(BlockOf(graph, region));
    if (at == of_block.end()) return;
    out.beside[static_cast<size_t>(&operation - graph.operations.data())] +=
        at->second;
  });
  return out;
}

}  // namespace foretell
