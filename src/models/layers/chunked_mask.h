// The mask of layers that see the tokens of their own chunk, as transformers
// builds it beside the one over all tokens.
//
// Source: transformers 5.23, masking_utils.py (create_chunked_causal_mask,
// chunked_overlay).
// Does not model a cache, nor rows of several sequences.
#ifndef FORETELL_MODELS_LAYERS_CHUNKED_MASK_H_
#define FORETELL_MODELS_LAYERS_CHUNKED_MASK_H_

#include <cstdint>
#include <string_view>

#include "graph/builder.h"

namespace foretell {

// hidden [b, s, width], position_ids [1, s] -> [b, 1, s, s] in the dtype of
// `hidden` (eager), bool (sdpa), or empty where the kernel's own flag serves.
Tensor ChunkedMask(const Tensor& hidden, const Tensor& position_ids,
                   std::string_view attention, int64_t chunk);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_CHUNKED_MASK_H_
