// What a generation cache executes the first time that keys and values reach
// it: a class that takes no `use_cache` fills one in training too.
//
// Source: transformers 5.23, cache_utils.py (DynamicLayer.lazy_initialization
// and update).
#ifndef FORETELL_MODELS_LAYERS_DYNAMIC_CACHE_H_
#define FORETELL_MODELS_LAYERS_DYNAMIC_CACHE_H_

#include "graph/builder.h"

namespace foretell {

// One layer's keys and values [b, h, s, d], as the cache keeps and gives them.
struct CachedLayer {
  Tensor keys;
  Tensor values;
};
CachedLayer UpdateEmptyCache(const Tensor& keys, const Tensor& values);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_DYNAMIC_CACHE_H_
