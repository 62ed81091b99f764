// The generation cache of a model that keeps all tokens, or those of a window:
// one layer of keys and values for each of the model's states that has any.
//
// Source: transformers 5.23, cache_utils.py (DynamicCache).
#ifndef FORETELL_MODELS_LAYERS_GENERATION_CACHE_H_
#define FORETELL_MODELS_LAYERS_GENERATION_CACHE_H_

#include <cstddef>
#include <span>
#include <vector>

#include "models/layers/dynamic_cache.h"
#include "models/model.h"
#include "spec/layer_state.h"

namespace foretell {

struct GenerationCache {
  std::vector<CachedLayer> layers;  // empty where no cache is in use
  size_t filled = 0;
  // What the next layer fills; null where no cache is in use.
  CachedLayer* NextLayer() {
    return filled < layers.size() ? &layers[filled++] : nullptr;
  }
};

// Empty layers, or what an earlier prefill of `inputs.past` tokens has left;
// nothing where the inputs ask for no cache and the class fills none of itself.
GenerationCache StartCache(Builder& builder, const ForwardInputs& inputs,
                           std::span<const LayerState> states,
                           bool always_fills);

// The object that the class returns holds the cache.
void ReturnCache(const GenerationCache& cache, const ForwardInputs& inputs);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_GENERATION_CACHE_H_
