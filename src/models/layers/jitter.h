// Noise on what a router sees, while training.
//
// Source: transformers 5.23, models/mixtral/modeling_mixtral.py
// (MixtralSparseMoeBlock).
#ifndef FORETELL_MODELS_LAYERS_JITTER_H_
#define FORETELL_MODELS_LAYERS_JITTER_H_

#include <utility>

#include "graph/ops/creation.h"
#include "graph/ops/in_place.h"

namespace foretell {

// `hidden` times random numbers near 1, in place; itself where `noise` is 0 or
// the model does not train.
inline Tensor ApplyJitter(Tensor hidden, double noise) {
  if (noise <= 0 || !hidden.builder().execution().training) return hidden;
  return MulInto(hidden, FillUniform(EmptyLike(hidden)));
}

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_JITTER_H_
