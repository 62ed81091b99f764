#include "models/layers/generation_cache.h"

#include "graph/strides.h"

namespace foretell {

GenerationCache StartCache(Builder& builder, const ForwardInputs& inputs,
                           std::span<const LayerState> states,
                           bool always_fills) {
  GenerationCache cache;
  if (!always_fills && !inputs.HasCache()) return cache;
  cache.layers.reserve(states.size());
  for (const LayerState& state : states) {
    // No encoder gives a cross attention anything to keep.
    if (state.kind == LayerState::Kind::kCross) continue;
    CachedLayer& layer = cache.layers.emplace_back();
    if (inputs.past == 0) continue;
    const auto take = [&](int64_t dim) {
      const Shape shape = {inputs.input_ids.size(0), state.heads, inputs.past,
                           dim};
      return builder.State(shape, ContiguousStrides(shape), builder.dtype());
    };
    layer.keys = take(state.key_dim);
    layer.values = take(state.value_dim);
  }
  // The caller has gone through the cache and still names its last tensor.
  if (inputs.past > 0 && !cache.layers.empty()) {
    inputs.Return(cache.layers.back().values);
  }
  return cache;
}

void ReturnCache(const GenerationCache& cache, const ForwardInputs& inputs) {
  for (const CachedLayer& layer : cache.layers) {
    inputs.ReturnCache(layer.keys);
    inputs.ReturnCache(layer.values);
  }
}

}  // namespace foretell
