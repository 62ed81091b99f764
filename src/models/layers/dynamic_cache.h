// What a generation cache executes the first time that keys and values reach
// it: a class that takes no `use_cache` fills one in training too.
//
// Source: transformers 5.23, cache_utils.py (DynamicLayer.lazy_initialization
// and update).
#ifndef FORETELL_MODELS_LAYERS_DYNAMIC_CACHE_H_
#define FORETELL_MODELS_LAYERS_DYNAMIC_CACHE_H_

#include <cstdint>
#include <utility>

#include "graph/builder.h"
#include "models/layers/short_convolution.h"
#include "spec/layer_state.h"

namespace foretell {

// One layer's keys and values [b, h, s, d], as the cache keeps and gives them.
struct CachedLayer {
  Tensor keys;
  Tensor values;
  // How many tokens a layer with a window keeps, as the cache holds it: []
  // int64; empty where all are kept.
  Tensor window;
  // In their place, of a layer that keeps one state whatever the length.
  RecurrentCache recurrent;
  // Of a layer with an indexer, [b, s, d].
  Tensor indexer_keys;
};

// What an earlier prefill has left of a layer of the kind kRecurrent.
CachedLayer TakeRecurrent(Builder& builder, const LayerState& state,
                          int64_t batch);

CachedLayer UpdateEmptyCache(const Tensor& keys, const Tensor& values);

// The same where `layer` is there already, filled or not, and keeps the last
// `window` - 1 tokens; 0: all of them. Gives all keys and values. Source:
// DynamicSlidingWindowLayer.update.
std::pair<Tensor, Tensor> FillCache(CachedLayer& layer, const Tensor& keys,
                                    const Tensor& values, int64_t window);

// All keys of an indexer, those that the layer has and `keys` [b, s, d] behind
// them. Source: DynamicIndexedLayer.update_indexer.
Tensor FillIndexer(CachedLayer& layer, const Tensor& keys);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_DYNAMIC_CACHE_H_
