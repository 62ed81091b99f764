// Falcon's products: a linear layer spelled out, and heads of keys that meet
// more heads of queries.
//
// Source: transformers 5.23, models/falcon/modeling_falcon.py (FalconLinear);
// torch 2.15, aten/src/ATen/native/LinearAlgebra.cpp (matmul).
#ifndef FORETELL_MODELS_LAYERS_FALCON_PRODUCTS_H_
#define FORETELL_MODELS_LAYERS_FALCON_PRODUCTS_H_

#include <cstdint>

#include "models/layers/linear.h"

namespace foretell {

// x @ weight.T, and the bias added to it.
struct FalconLinear {
  FalconLinear(const Module& at, int64_t in, int64_t out, bool has_bias)
      : linear(at, in, out, has_bias) {}
  // [..., in] -> [..., out]
  Tensor Forward(const Tensor& x) const;

  Linear linear;
};

// torch.matmul of [b, h, m, k] and [b, h or 1, k, n].
Tensor SpreadMatmul(const Tensor& a, const Tensor& b);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_FALCON_PRODUCTS_H_
