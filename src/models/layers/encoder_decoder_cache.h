// What generation keeps of an encoder-decoder: for each of the decoder's layers
// the keys and values of its own tokens, and those that its cross attention
// made of the encoder's output, once.
//
// In a decode the encoder does not run again: its output is handed on. The
// recorder and generate() do the same.
// Source: transformers 5.23, cache_utils.py (EncoderDecoderCache), models/t5/
// modeling_t5.py (T5Attention), models/bart/modeling_bart.py (BartAttention).
#ifndef FORETELL_MODELS_LAYERS_ENCODER_DECODER_CACHE_H_
#define FORETELL_MODELS_LAYERS_ENCODER_DECODER_CACHE_H_

#include <cstdint>
#include <vector>

#include "models/layers/dynamic_cache.h"
#include "models/model.h"

namespace foretell {

struct CachedPair {
  CachedLayer own;
  CachedLayer cross;
};

struct EncoderDecoderCache {
  std::vector<CachedPair> layers;  // empty where no cache is in use
  int64_t past = 0;                // tokens that the decoder has read before

  CachedPair* Layer(size_t index) {
    return index < layers.size() ? &layers[index] : nullptr;
  }
};

struct EncoderDecoderSizes {
  int64_t layers = 0;  // of the decoder
  int64_t heads = 0;
  int64_t head_dim = 0;
  int64_t width = 0;    // of what the encoder gives
  bool encodes = true;  // false: a decoder alone, which attends to no other
  // What the encoder gives is float32 under autocast.
  bool ends_in_layer_norm = false;
};

// Empty layers, or what an earlier prefill has left; nothing where the inputs
// ask for no cache.
EncoderDecoderCache StartEncoderDecoderCache(Builder& builder,
                                             const ForwardInputs& inputs,
                                             const EncoderDecoderSizes& sizes);

// What the encoder gave when the cache was filled: [b, s, width].
Tensor EncodedBefore(Builder& builder, const ForwardInputs& inputs,
                     const EncoderDecoderSizes& sizes);

// The object that the class returns holds the cache.
void ReturnCache(const EncoderDecoderCache& cache, const ForwardInputs& inputs);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_ENCODER_DECODER_CACHE_H_
