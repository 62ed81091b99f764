// What a decoder reads while it learns its own tokens: each row begins with the
// start token and ends one token early.
//
// Source: transformers 5.23, models/t5/modeling_t5.py (_shift_right),
// models/bart/modeling_bart.py (shift_tokens_right).
#ifndef FORETELL_MODELS_LAYERS_SHIFT_RIGHT_H_
#define FORETELL_MODELS_LAYERS_SHIFT_RIGHT_H_

#include <cstdint>
#include <optional>

#include "graph/builder.h"

namespace foretell {

// ids [b, s]; ignored labels become padding. The graph fails where a token is
// not known.
Tensor ShiftRight(const Tensor& ids, std::optional<int64_t> start,
                  std::optional<int64_t> padding);

// mBART's: the last token that is not padding comes first.
Tensor ShiftAround(const Tensor& ids, std::optional<int64_t> padding);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_SHIFT_RIGHT_H_
