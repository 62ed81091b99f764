#include "models/layers/generation_cache.h"

#include "graph/ops/creation.h"
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
    // A layer that reads another's keys and values has none of its own.
    if (state.kind == LayerState::Kind::kNone) continue;
    CachedLayer& layer = cache.layers.emplace_back();
    const bool slides = state.kind == LayerState::Kind::kSliding;
    if (inputs.past == 0) {
      if (slides) layer.window = LiftFresh(builder, {}, DType::kInt64);
      continue;
    }
    const auto take = [&](int64_t dim) {
      const Shape shape = {inputs.input_ids.size(0), state.heads, inputs.past,
                           dim};
      return builder.State(shape, ContiguousStrides(shape), builder.dtype());
    };
    layer.keys = take(state.key_dim);
    layer.values = take(state.value_dim);
    if (!slides) continue;
    layer.window = builder.State({}, {}, DType::kInt64);
    if (inputs.past < state.window) continue;
    // Views of the last tokens, which keep the whole of what they are of.
    layer.keys = builder.CutBefore(layer.keys, 2, state.window - 1);
    layer.values = builder.CutBefore(layer.values, 2, state.window - 1);
  }
  // The caller has gone through the cache and still names its last tensor.
  if (inputs.past > 0 && !cache.layers.empty()) {
    const CachedLayer& last = cache.layers.back();
    inputs.Return(last.window.empty() ? last.values : last.window);
  }
  return cache;
}

void ReturnCache(const GenerationCache& cache, const ForwardInputs& inputs) {
  for (const CachedLayer& layer : cache.layers) {
    inputs.ReturnCache(layer.keys);
    inputs.ReturnCache(layer.values);
    if (!layer.window.empty()) inputs.ReturnCache(layer.window);
  }
}

}  // namespace foretell
