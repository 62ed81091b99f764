#include "passes/quantize_weights.h"

namespace foretell {
namespace {

bool IsPacked(const Graph& graph, const LinearLayer& layer) {
  if (layer.is_conv1d) return false;
  if (graph.output_embeddings && *graph.output_embeddings == layer.region) {
    return false;
  }
  const Parameter& weight = graph[layer.weight];
  const Value& value = graph[weight.value];
  return !weight.tied_to && !value.requires_grad && value.shape.rank() == 2;
}

}  // namespace

QuantizedWeights QuantizeWeights(Graph& graph, const TrainingJob& job,
                                 const PackWeight& pack) {
  QuantizedWeights out;
  if (job.weights == WeightFormat::kNone) return out;
  std::vector<int64_t> beside(graph.storages.size());
  std::vector<bool> packed(graph.storages.size());
  // `count` matrices of `shape` in one storage.
  const auto replace = [&](const Value& weight, const Shape& shape,
                           int64_t count) {
    const uint32_t storage = weight.storage.index;
    if (packed[storage]) return;
    const PackedWeight one = pack(shape[0], shape[1]);
    if (one.bytes == 0) return;
    packed[storage] = true;
    beside[storage] = one.beside;
    graph.storages[storage].bytes = one.bytes * count;
    out.layers += count;
    out.elements += shape[0] * shape[1] * count;
    out.bytes += one.bytes * count;
  };
  for (const LinearLayer& layer : graph.linears) {
    if (!IsPacked(graph, layer)) continue;
    const Value& weight = graph[graph[layer.weight].value];
    replace(weight, weight.shape, 1);
  }
  if (job.experts_are_linear) {
    for (const Parameter& parameter : graph.parameters) {
      const Value& weight = graph[parameter.value];
      if (parameter.experts == 0 || weight.requires_grad ||
          weight.shape.rank() != 3) {
        continue;
      }
      replace(weight, {weight.shape[1], weight.shape[2]}, weight.shape[0]);
    }
  }
  out.beside.resize(graph.operations.size());
  for (size_t i = 0; i < graph.operations.size(); ++i) {
    const Operation& operation = graph.operations[i];
    for (const ValueId input : graph.InputsOf(operation)) {
      const StorageId read = graph[input].storage;
      if (beside[read.index] == 0) continue;
      bool is_view = false;
      for (const ValueId made : graph.OutputsOf(operation)) {
        is_view = is_view || graph[made].storage == read;
      }
      if (!is_view) out.beside[i] += beside[read.index];
    }
  }
  return out;
}

}  // namespace foretell
