// The mask of a decoder that always has one made, also where the kernel's own
// flag would serve.
//
// Source: transformers 5.23, masking_utils.py (create_causal_mask with
// allow_is_causal_skip=False).
#ifndef FORETELL_MODELS_LAYERS_MADE_MASK_H_
#define FORETELL_MODELS_LAYERS_MADE_MASK_H_

#include <cstdint>
#include <string_view>

#include "graph/builder.h"

namespace foretell {

// hidden [b, s, width]; `past` tokens lie in a cache. As CausalMask gives it,
// over all tokens.
Tensor MadeCausalMask(const Tensor& hidden, std::string_view attention,
                      int64_t past);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_MADE_MASK_H_
