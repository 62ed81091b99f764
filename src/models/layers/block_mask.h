// The mask of text in which blocks of images see all of themselves, as a class
// builds it where there are none: each token's block is -1.
//
// Source: transformers 5.23, masking_utils.py (create_causal_mask and
// create_sliding_window_causal_mask with block_sequence_ids,
// blockwise_overlay).
// Does not model a cache, nor rows of several sequences.
#ifndef FORETELL_MODELS_LAYERS_BLOCK_MASK_H_
#define FORETELL_MODELS_LAYERS_BLOCK_MASK_H_

#include <cstdint>
#include <string_view>

#include "graph/builder.h"

namespace foretell {

// hidden [b, s, width], position_ids [1, s], blocks [b, s]; window 0 where
// there is none -> [b, 1, s, s] in the dtype of `hidden` (eager) or bool.
Tensor BlockMask(const Tensor& hidden, const Tensor& position_ids,
                 std::string_view attention, int64_t window,
                 const Tensor& blocks);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_BLOCK_MASK_H_
