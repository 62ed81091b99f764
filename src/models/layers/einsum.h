// torch.einsum of two tensors: a batch matrix product between permutations.
//
// Source: torch 2.15, aten/src/ATen/native/Linear.cpp (einsum,
// sumproduct_pair).
// Does not model: ellipses, a letter that stands twice in one operand, other
// numbers of operands.
#ifndef FORETELL_MODELS_LAYERS_EINSUM_H_
#define FORETELL_MODELS_LAYERS_EINSUM_H_

#include <string_view>

#include "graph/builder.h"

namespace foretell {

// Einsum("bclhn,bcshn->bclsh", c, b); letters are lower case.
Tensor Einsum(std::string_view equation, const Tensor& left,
              const Tensor& right);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_EINSUM_H_
