#include "models/layers/dynamic_cache.h"

#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "models/layers/functional.h"

namespace foretell {
namespace {

// torch.tensor([], dtype, device)
Tensor EmptyTensor(const Tensor& like) {
  return Transfer(LiftFresh(like.builder(), {0}, like.dtype()));
}

}  // namespace

CachedLayer UpdateEmptyCache(const Tensor& keys, const Tensor& values) {
  CachedLayer layer;
  layer.keys = EmptyTensor(keys);
  layer.values = EmptyTensor(values);
  layer.keys = Cat2(layer.keys, keys, -2);
  layer.values = Cat2(layer.values, values, -2);
  return layer;
}

}  // namespace foretell
