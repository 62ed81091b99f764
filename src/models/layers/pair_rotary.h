// Rotary positions that turn neighbouring dims, the first with the second, the
// third with the fourth, not one half of a head with the other.
//
// Source: transformers 5.23, models/{cohere,glm,ernie4_5}/modeling_*.py
// (apply_rotary_pos_emb, rotate_half), which Cohere 2 and GLM-4 share.
#ifndef FORETELL_MODELS_LAYERS_PAIR_ROTARY_H_
#define FORETELL_MODELS_LAYERS_PAIR_ROTARY_H_

#include <utility>

#include "graph/builder.h"

namespace foretell {

// All of q [b, h, s, d] and k in float32, by angles that stand twice in a row.
std::pair<Tensor, Tensor> ApplyPairRotary(const Tensor& q, const Tensor& k,
                                          Tensor cosines, Tensor sines);
// As many first dims as there are angles, whose first half is repeated; the
// rest passes (GLM).
std::pair<Tensor, Tensor> ApplyPartialPairRotary(const Tensor& q,
                                                 const Tensor& k,
                                                 Tensor cosines, Tensor sines);
// All dims, by float32 angles whose first half is repeated; each product is
// made in float32 (ERNIE 4.5).
std::pair<Tensor, Tensor> ApplyWidePairRotary(const Tensor& q, const Tensor& k,
                                              Tensor cosines, Tensor sines);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_PAIR_ROTARY_H_
