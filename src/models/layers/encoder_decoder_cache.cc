#include "models/layers/encoder_decoder_cache.h"

#include "graph/strides.h"

namespace foretell {

EncoderDecoderCache StartEncoderDecoderCache(Builder& builder,
                                             const ForwardInputs& inputs,
                                             const EncoderDecoderSizes& sizes) {
  EncoderDecoderCache cache;
  if (!inputs.HasCache()) return cache;
  cache.past = inputs.past;
  cache.layers.resize(static_cast<size_t>(sizes.layers));
  if (inputs.past == 0) return cache;
  const int64_t batch = inputs.input_ids.size(0);
  const auto take = [&](int64_t tokens) {
    const Shape shape = {batch, sizes.heads, tokens, sizes.head_dim};
    // Keys and values are as their projections give them.
    return builder.State(
        shape, ContiguousStrides(shape),
        builder.execution().autocast.value_or(builder.dtype()));
  };
  for (CachedPair& layer : cache.layers) {
    layer.own.keys = take(inputs.past);
    layer.own.values = take(inputs.past);
    if (!sizes.encodes) continue;
    layer.cross.keys = take(inputs.input_ids.size(1));
    layer.cross.values = take(inputs.input_ids.size(1));
  }
  // The caller has gone through the cache and still names its last tensor.
  if (!sizes.encodes && !cache.layers.empty()) {
    inputs.Return(cache.layers.back().own.values);
  }
  return cache;
}

Tensor EncodedBefore(Builder& builder, const ForwardInputs& inputs,
                     const EncoderDecoderSizes& sizes) {
  const Shape shape = {inputs.input_ids.size(0), inputs.input_ids.size(1),
                       sizes.width};
  const bool is_wide =
      sizes.ends_in_layer_norm && builder.execution().autocast.has_value();
  return builder.State(shape, ContiguousStrides(shape),
                       is_wide ? DType::kFloat32 : builder.dtype());
}

void ReturnCache(const EncoderDecoderCache& cache,
                 const ForwardInputs& inputs) {
  for (const CachedPair& layer : cache.layers) {
    inputs.ReturnCache(layer.own.keys);
    inputs.ReturnCache(layer.own.values);
    if (layer.cross.keys.empty()) continue;
    inputs.ReturnCache(layer.cross.keys);
    inputs.ReturnCache(layer.cross.values);
  }
}

}  // namespace foretell
