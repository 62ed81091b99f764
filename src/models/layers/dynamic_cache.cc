#include "models/layers/dynamic_cache.h"

#include <limits>

#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/views.h"
#include "graph/strides.h"
#include "models/layers/functional.h"

namespace foretell {
namespace {

// torch.tensor([], dtype, device). Values begin with the keys' dtype, which may
// be the wider one under autocast: what is joined to them takes it.
Tensor EmptyTensor(const Tensor& like) {
  return Transfer(LiftFresh(like.builder(), {0}, like.dtype()));
}

}  // namespace

CachedLayer UpdateEmptyCache(const Tensor& keys, const Tensor& values) {
  CachedLayer layer;
  layer.keys = EmptyTensor(keys);
  layer.values = EmptyTensor(keys);
  layer.keys = Cat2(layer.keys, keys, -2);
  layer.values = Cat2(layer.values, values, -2);
  return layer;
}

CachedLayer TakeRecurrent(Builder& builder, const LayerState& state,
                          int64_t batch) {
  const auto take = [&](const Shape& shape, DType dtype) {
    return builder.State(shape, ContiguousStrides(shape), dtype);
  };
  CachedLayer layer;
  if (state.conv_channels > 0) {
    layer.recurrent.conv_bdk =
        take({batch, state.conv_channels, state.conv_tokens}, builder.dtype());
  }
  if (state.heads > 0) {
    layer.recurrent.recurrent = take(
        {batch, state.heads, state.key_dim, state.value_dim}, DType::kFloat32);
  }
  return layer;
}

std::pair<Tensor, Tensor> FillCache(CachedLayer& layer, const Tensor& keys,
                                    const Tensor& values, int64_t window) {
  const bool is_empty = layer.keys.empty();
  if (window <= 0) {
    if (is_empty) {
      layer = UpdateEmptyCache(keys, values);
    } else {
      layer.keys = Cat2(layer.keys, keys, -2);
      layer.values = Cat2(layer.values, values, -2);
    }
    return {layer.keys, layer.values};
  }
  if (is_empty) {
    layer.keys = EmptyTensor(keys);
    layer.values = EmptyTensor(keys);
    layer.window = Transfer(std::move(layer.window));
  }
  const Tensor all_keys = Cat2(layer.keys, keys, -2);
  const Tensor all_values = Cat2(layer.values, values, -2);
  constexpr int64_t kToTheEnd = std::numeric_limits<int64_t>::max();
  layer.keys = Slice(all_keys, 2, -window + 1, kToTheEnd);
  layer.values = Slice(all_values, 2, -window + 1, kToTheEnd);
  return {all_keys, all_values};
}

Tensor FillIndexer(CachedLayer& layer, const Tensor& keys) {
  if (layer.indexer_keys.empty()) layer.indexer_keys = EmptyTensor(keys);
  layer.indexer_keys = Cat2(layer.indexer_keys, keys, 1);
  return layer.indexer_keys;
}

}  // namespace foretell
