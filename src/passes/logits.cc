#include "passes/logits.h"

#include "base/checked.h"

namespace foretell {
namespace {

// The head's weight [vocabulary, hidden]; null where there is none.
const Parameter* HeadOf(const Graph& graph) {
  if (!graph.output_embeddings) return nullptr;
  for (const LinearLayer& layer : graph.linears) {
    if (layer.region != *graph.output_embeddings) continue;
    const Parameter& weight = graph[layer.weight];
    return graph[weight.value].shape.rank() == 2 ? &weight : nullptr;
  }
  return nullptr;
}

}  // namespace

Logits FindLogits(const Graph& graph, int64_t tokens) {
  Logits out;
  const Parameter* head = HeadOf(graph);
  if (head == nullptr) return out;
  const Value& weight = graph[head->value];
  out.tokens = tokens;
  out.vocabulary = weight.shape[0];
  out.hidden = weight.shape[1];
  out.head_trains = weight.requires_grad;
  const auto count = CheckedMul(tokens, out.vocabulary);
  if (!count || *count <= 0) return out;
  std::vector<bool> seen(graph.storages.size());
  for (uint32_t i = 0; i < graph.operations.size(); ++i) {
    for (const ValueId id : graph.OutputsOf(graph.operations[i])) {
      const Value& value = graph[id];
      const Storage& storage = graph.storages[value.storage.index];
      if (storage.kind != StorageKind::kActivation ||
          seen[value.storage.index] || value.shape.Elements() != *count) {
        continue;
      }
      seen[value.storage.index] = true;
      out.storages.push_back({value.storage, i, value.dtype});
    }
  }
  return out;
}

}  // namespace foretell
