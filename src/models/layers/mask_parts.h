// What the masks of transformers are put together from.
//
// Source: transformers 5.23, masking_utils.py (find_packed_sequence_indices,
// _vmap_expansion_sdpa, eager_mask).
#ifndef FORETELL_MODELS_LAYERS_MASK_PARTS_H_
#define FORETELL_MODELS_LAYERS_MASK_PARTS_H_

#include <string_view>

#include "graph/builder.h"

namespace foretell {

// Positions [b, s] that do not step by one start another sequence. For the
// plain positions of a whole row the answer is no.
void LookForPackedSequences(const Tensor& position_ids);

// A range as four dims, its extent at `axis`.
Tensor SpreadRange(Tensor x, int axis);

// A bool mask as sdpa takes it, or as what eager attention adds to the scores.
Tensor MaskOf(const Tensor& seen, const Tensor& hidden,
              std::string_view attention);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_MASK_PARTS_H_
