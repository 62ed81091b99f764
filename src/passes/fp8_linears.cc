#include "passes/fp8_linears.h"

#include <algorithm>
#include <string_view>

#include "base/dtype.h"
#include "graph/operation_row.h"
#include "graph/phase_walk.h"

namespace foretell {
namespace {

bool IsProduct(std::string_view row) {
  return row == "aten.mm.default" || row == "aten.addmm.default";
}

class Caster {
 public:
  Caster(Graph& graph, Fp8 recipe, const std::vector<bool>& kept)
      : graph_(graph),
        recipe_(recipe),
        kept_(kept),
        beside_(graph.operations.size()),
        is_weight_(graph.storages.size()),
        reads_(graph.storages.size()),
        others_(graph.storages.size()) {}

  std::vector<int64_t> Run() {
    for (const LinearLayer& layer : graph_.linears) {
      if (graph_.output_embeddings == layer.region) continue;
      is_weight_[graph_[graph_[layer.weight].value].storage.index] = true;
    }
    int64_t weights = 0;  // that have run in the forward, twice in fp8
    const bool keeps = recipe_ == Fp8::kTransformerEngine;
    std::vector<bool> seen(graph_.storages.size());
    ForEachOperation(graph_, [&](const Operation& operation, Phase phase) {
      const size_t at =
          static_cast<size_t>(&operation - graph_.operations.data());
      if (phase != Phase::kOptimizer && IsLinear(operation)) {
        beside_[at] += CastFor(operation);
        if (keeps) CountWeight(operation, phase, seen, weights);
      } else if (phase == Phase::kForward) {
        Note(operation);
      }
      if (keeps) beside_[at] += weights;
    });
    if (keeps) Halve();
    return std::move(beside_);
  }

 private:
  bool IsLinear(const Operation& operation) const {
    if (!IsProduct(operation.row->name)) return false;
    return std::ranges::any_of(graph_.InputsOf(operation), [this](ValueId id) {
      return is_weight_[graph_[id].storage.index];
    });
  }

  // Both factors, a byte for each element; with the fp8 copies of the forward
  // the backward casts the gradient alone.
  int64_t CastFor(const Operation& operation) {
    int64_t bytes = 0;
    for (const ValueId id : graph_.InputsOf(operation)) {
      const Value& value = graph_[id];
      if (value.shape.rank() < 2) continue;
      const bool is_weight = is_weight_[value.storage.index];
      if (recipe_ == Fp8::kTransformerEngine && is_weight) continue;
      bytes += value.shape.Elements().value_or(0);
      if (!is_weight) ++reads_[value.storage.index];
    }
    return bytes;
  }

  void CountWeight(const Operation& operation, Phase phase,
                   std::vector<bool>& seen, int64_t& weights) const {
    for (const ValueId id : graph_.InputsOf(operation)) {
      const Value& value = graph_[id];
      const uint32_t storage = value.storage.index;
      const bool enters = phase == Phase::kForward;
      if (!is_weight_[storage] || seen[storage] == enters) continue;
      seen[storage] = enters;
      const int64_t bytes = 2 * value.shape.Elements().value_or(0);
      weights += enters ? bytes : -bytes;
    }
  }

  // Who else reads a tensor keeps it as it is.
  void Note(const Operation& operation) {
    if (operation.saved_count == 0) return;
    for (const Saved& saved : graph_.SavedOf(operation)) {
      ++others_[graph_[saved.value].storage.index];
    }
  }

  void Halve() {
    for (size_t i = 0; i < kept_.size(); ++i) {
      if (!kept_[i] || reads_[i] == 0 || others_[i] > 0) continue;
      if (graph_.storages[i].kind != StorageKind::kActivation) continue;
      graph_.storages[i].bytes /= 2;
    }
  }

  Graph& graph_;
  Fp8 recipe_;
  const std::vector<bool>& kept_;
  std::vector<int64_t> beside_;
  std::vector<bool> is_weight_;  // by storage
  std::vector<int32_t> reads_;   // by storage, of linear layers
  std::vector<int32_t> others_;  // by storage, records of other operations
};

}  // namespace

std::vector<int64_t> CastLinears(Graph& graph, Fp8 recipe,
                                 const std::vector<bool>& kept) {
  return Caster(graph, recipe, kept).Run();
}

}  // namespace foretell
