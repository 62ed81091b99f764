// The mask of transformers 4.57, which always tells packed sequences apart: it
// is there for sdpa, too, whether or not any are packed.
//
// Source: transformers 4.57.6, masking_utils.py (find_packed_sequence_indices,
// packed_sequence_mask_function, sdpa_mask_recent_torch, eager_mask), whose
// conditions torch.vmap spreads over batch, queries and keys.
#ifndef FORETELL_MODELS_LAYERS_PACKED_MASK_H_
#define FORETELL_MODELS_LAYERS_PACKED_MASK_H_

#include <cstdint>
#include <string_view>

#include "graph/builder.h"

namespace foretell {

// hidden [b, s, width], position_ids [1 or b, s]; window 0 where there is none.
// Gives [b, 1, s, s] in the dtype of `hidden` (eager) or bool (sdpa); nothing
// for flash-attention.
Tensor PackedMask(const Tensor& hidden, const Tensor& position_ids,
                  std::string_view attention, int64_t window);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_PACKED_MASK_H_
