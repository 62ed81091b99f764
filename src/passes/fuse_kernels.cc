#include "passes/fuse_kernels.h"

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "graph/operation_row.h"
#include "graph/phase_walk.h"

namespace foretell {
namespace {

// Inside an MLP, outside its linear layers.
bool IsGate(const Graph& graph, const Operation& operation) {
  RegionId at = operation.region;
  if (graph[at].kind == RegionKind::kLinear) return false;
  while (at.valid() && graph[at].kind != RegionKind::kBlock) {
    if (graph[at].kind == RegionKind::kMlp) return true;
    at = graph[at].parent;
  }
  return false;
}

bool IsActivation(std::string_view row) {
  return row == "aten.silu.default" || row == "aten.gelu.default" ||
         row == "aten.silu_backward.default" ||
         row == "aten.gelu_backward.default";
}

class Fuser {
 public:
  Fuser(Graph& graph, const FusedParts& parts) : graph_(graph), parts_(parts) {}

  void Run() {
    ForEachOperation(graph_, [this](const Operation& operation, Phase phase) {
      if (phase == Phase::kOptimizer) return;
      const bool is_norm = graph_[operation.region].kind == RegionKind::kNorm;
      if (is_norm && parts_.norms) {
        Norm(operation, phase);
      } else if (parts_.gates && IsGate(graph_, operation)) {
        Gate(operation, phase);
      }
    });
  }

 private:
  template <class Change>
  void ForResults(const Operation& operation, const Change& change) {
    for (const ValueId id : graph_.OutputsOf(operation)) {
      const Value& value = graph_[id];
      Storage& storage = graph_.storages[value.storage.index];
      if (storage.kind != StorageKind::kActivation) continue;
      change(value, storage.bytes);
    }
  }

  // The first float32 copy stands for the input that the kernel keeps; the last
  // result is in the model's dtype, and stays.
  void Norm(const Operation& operation, Phase phase) {
    ForResults(operation, [&](const Value& value, int64_t& bytes) {
      const bool is_row = value.shape.rank() > 0 && value.shape[-1] == 1;
      if (is_row || BytesOf(value.dtype) != 4) return;
      const bool is_copy = operation.row->name == "aten._to_copy.default";
      const bool keeps = phase == Phase::kForward && is_copy;
      bytes = keeps ? bytes / 2 : 0;
    });
  }

  void Gate(const Operation& operation, Phase phase) {
    const std::string_view row = operation.row->name;
    const bool is_product = row == "aten.mul.Tensor";
    const bool goes =
        IsActivation(row) ||
        (is_product && (phase == Phase::kBackward || parts_.products));
    if (!goes) return;
    ForResults(operation, [](const Value&, int64_t& bytes) { bytes = 0; });
  }

  Graph& graph_;
  const FusedParts& parts_;
};

}  // namespace

void FuseKernels(Graph& graph, const FusedParts& parts) {
  Fuser(graph, parts).Run();
}

}  // namespace foretell
