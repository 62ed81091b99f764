// The gated delta rule: linear attention whose state decays and is corrected
// by what each token brings, in chunks of tokens or token by token.
//
// Source: transformers 5.23, models/qwen3_next/modeling_qwen3_next.py
// (torch_chunk_gated_delta_rule, torch_recurrent_gated_delta_rule), what runs
// where the package flash-linear-attention is not installed.
#ifndef FORETELL_MODELS_LAYERS_GATED_DELTA_RULE_H_
#define FORETELL_MODELS_LAYERS_GATED_DELTA_RULE_H_

#include "graph/builder.h"

namespace foretell {

// b batch, s tokens, h heads of values, of which each of the g heads of queries
// and keys serves as many.
struct GatedDeltaInputs {
  Tensor query_bsgk;
  Tensor key_bsgk;
  Tensor value_bshv;
  Tensor decay_bsh;   // float32, of the state, as a logarithm
  Tensor beta_bsh;    // how much a token corrects
  Tensor state_bhkv;  // float32, that of the tokens before; empty: none
};

// -> [b, s, h, v] in the dtype of the queries; `last_bhkv` takes the state
// after the last token, where it is not null.
Tensor ChunkGatedDelta(const GatedDeltaInputs& inputs, Tensor* last_bhkv);
Tensor RecurrentGatedDelta(const GatedDeltaInputs& inputs, Tensor* last_bhkv);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_GATED_DELTA_RULE_H_
