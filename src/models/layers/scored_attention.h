// Attention as older classes write it out, whichever implementation is asked
// for: scores over the root of a head's width, a bias, a mask, softmax and a
// dropout that is a module.
//
// Source: transformers 5.23, models/{mpnet,megatron_bert}/modeling_*.py
// (MPNetSelfAttention, MegatronBertSelfAttention).
#ifndef FORETELL_MODELS_LAYERS_SCORED_ATTENTION_H_
#define FORETELL_MODELS_LAYERS_SCORED_ATTENTION_H_

#include "models/layers/dropout.h"

namespace foretell {

// Names of the module's forward, which hold to its end.
struct ScoredAttention {
  Tensor scores;
  Tensor weights;
  Tensor out;  // [b, s, h d]
};

// q [b, h, s, d], k and v [b, h, t, d]. `bias` is added into the scores, `mask`
// to them; either may be empty.
ScoredAttention AttendByScores(const Tensor& q, const Tensor& k,
                               const Tensor& v, const Tensor& bias,
                               const Tensor& mask, const Dropout& dropout);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_SCORED_ATTENTION_H_
