// How a model looks for padding where it is given no mask of it: the first and
// last token of each row.
//
// Source: transformers 5.23, modeling_utils.py
// (warn_if_padding_and_no_attention_mask).
#ifndef FORETELL_MODELS_LAYERS_PADDING_LOOK_H_
#define FORETELL_MODELS_LAYERS_PADDING_LOOK_H_

#include <cstdint>
#include <optional>

#include "graph/builder.h"

namespace foretell {

// input_ids [b, s]; nothing is looked for where there is no padding token.
void LookForPadding(const Tensor& input_ids, std::optional<int64_t> padding);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_PADDING_LOOK_H_
