// The mask that decoders build before their layers run.
//
// With sdpa and no window shorter than the sequence there is none: the kernel's
// own causal flag serves. Either way transformers first looks whether several
// sequences are packed into one row.
// Source: transformers 5.23, masking_utils.py (create_causal_mask,
// create_sliding_window_causal_mask, eager_mask).
#ifndef FORETELL_MODELS_LAYERS_CAUSAL_MASK_H_
#define FORETELL_MODELS_LAYERS_CAUSAL_MASK_H_

#include <cstdint>
#include <string_view>

#include "graph/builder.h"

namespace foretell {

// The window of a model that builds its mask with a length of zero: no token
// sees any.
inline constexpr int64_t kEmptyWindow = -1;

// hidden [b, s, width], position_ids [1 or b, s], or empty where the model
// gives none; window 0 where there is none; `past` tokens lie in a cache. Gives
// [b, 1, s, past + s] in the dtype of `hidden` (eager), bool (sdpa), or empty
// where the kernel's own flag serves and `may_skip`. An older library tells
// packed sequences apart in the mask itself (packed_mask.h).
Tensor CausalMask(const Tensor& hidden, const Tensor& position_ids,
                  std::string_view attention, int64_t window, int64_t past = 0,
                  bool may_skip = true);

// The mask of a model whose tokens see those on both sides of them, all or
// fewer than `window` away: made of conditions over one range each, as vmap
// runs them. Source: masking_utils.py (or_mask_function), models/gemma3/
// modeling_gemma3.py (_bidirectional_window_overlay).
Tensor MaskOfBothSides(const Tensor& hidden, const Tensor& position_ids,
                       std::string_view attention, int64_t window);

// How CausalMask's arguments of the same names are meant.
struct MaskSpan {
  int64_t window = 0;
  int64_t past = 0;
  bool may_skip = true;
};

// The same over a mask of padding [b, past + s], of ones, which the caller
// gives or the model makes itself. With sdpa and no window in use it is looked
// through, and serves no further.
Tensor CausalMaskOver(const Tensor& padding, const Tensor& hidden,
                      std::string_view attention, const MaskSpan& span = {});

// Where tokens see those on both sides, a mask of padding is looked through
// and, being full, left out. Source: create_bidirectional_mask.
void LookThroughMask(const Tensor& padding);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_CAUSAL_MASK_H_
