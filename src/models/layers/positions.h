// The places of a call's tokens, behind those that a cache holds.
//
// Source: transformers 5.23, models/llama/modeling_llama.py (LlamaModel); 4.57
// counts from the first place on, later versions from zero and add it.
#ifndef FORETELL_MODELS_LAYERS_POSITIONS_H_
#define FORETELL_MODELS_LAYERS_POSITIONS_H_

#include <cstdint>

#include "graph/builder.h"

namespace foretell {

// [length] int64, from `past` on.
Tensor Positions(Builder& builder, int64_t length, int64_t past);
// The same as [1, length].
Tensor PositionIds(Builder& builder, int64_t length, int64_t past);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_POSITIONS_H_
