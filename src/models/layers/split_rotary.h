// Rotary positions of the first dims of a head, where queries and keys are both
// turned before either is joined to the dims that pass.
//
// Source: transformers 5.23, models/glm4_moe/modeling_glm4_moe.py
// (apply_rotary_pos_emb), which MiniMax-M2, MiMo and Laguna share.
#ifndef FORETELL_MODELS_LAYERS_SPLIT_ROTARY_H_
#define FORETELL_MODELS_LAYERS_SPLIT_ROTARY_H_

#include <utility>

#include "graph/builder.h"

namespace foretell {

// q [b, h, s, d] and k [b, h_kv, s, d], by cosines and sines [b, s, dims].
std::pair<Tensor, Tensor> ApplySplitRotary(const Tensor& q, const Tensor& k,
                                           Tensor cosines, Tensor sines);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_SPLIT_ROTARY_H_
