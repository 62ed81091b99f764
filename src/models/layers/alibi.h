// Attention with linear biases: what each head subtracts by distance, as Bloom
// and Falcon make it.
//
// Source: transformers 5.23, models/bloom/modeling_bloom.py
// (_get_alibi_slopes), models/falcon/modeling_falcon.py (build_alibi_tensor).
#ifndef FORETELL_MODELS_LAYERS_ALIBI_H_
#define FORETELL_MODELS_LAYERS_ALIBI_H_

#include <cstdint>
#include <vector>

#include "graph/builder.h"

namespace foretell {

// Slopes [heads] float32 first, then the names beside them, which live as long
// as the function that made them.
std::vector<Tensor> AlibiSlopes(Builder& builder, int64_t heads);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_ALIBI_H_
