// Which tokens a class for the next token scores: all of them, the last alone
// in a prefill.
//
// Source: transformers 5.23, modeling_utils.py (slice_logits_to_keep).
#ifndef FORETELL_MODELS_LAYERS_KEPT_ROWS_H_
#define FORETELL_MODELS_LAYERS_KEPT_ROWS_H_

#include "models/model.h"

namespace foretell {

// hidden [b, s, width] -> [b, s or 1, width]. For classes of which a decode is
// not derived: the graph fails there.
Tensor KeptRows(const Tensor& hidden, const ForwardInputs& inputs);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_KEPT_ROWS_H_
