// The buffers of rotary embeddings that code beside older weights keeps in each
// layer: frequencies, and cosines and sines of all positions.
//
// Source: modeling_deepseek.py, after models/llama/modeling_llama.py of
// transformers 4.36.
#ifndef FORETELL_MODELS_LAYERS_CACHED_ROTARY_H_
#define FORETELL_MODELS_LAYERS_CACHED_ROTARY_H_

#include <cstdint>

#include "models/layers/module.h"

namespace foretell {

inline void AddCachedRotary(const Module& at, int64_t head_dim,
                            int64_t positions) {
  at.Buffer("inv_freq", {(head_dim + 1) / 2}, DType::kFloat32, false);
  const Shape cached = {positions, 2 * ((head_dim + 1) / 2)};
  at.Buffer("cos_cached", cached, at.builder().dtype(), false);
  at.Buffer("sin_cached", cached, at.builder().dtype(), false);
}

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_CACHED_ROTARY_H_
