// Rows in groups, each group times its expert's factors: by PyTorch's kernel,
// or by what transformers runs where the card is too old for it.
//
// Source: transformers 5.23, integrations/moe.py (_can_use_grouped_mm,
// _grouped_mm).
#ifndef FORETELL_MODELS_LAYERS_GROUPED_PRODUCT_H_
#define FORETELL_MODELS_LAYERS_GROUPED_PRODUCT_H_

#include <utility>

#include "graph/builder.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/matmul.h"

namespace foretell {

// [s, k], [g, k, n], ends of groups [g] -> [s, n]
inline Tensor GroupedProduct(const Tensor& rows, Tensor factors,
                             Tensor offsets) {
  Tensor cast = To(rows, factors.dtype());
  if (cast.builder().execution().capability < 80) {
    return GroupedFallback(std::move(cast), std::move(factors),
                           std::move(offsets));
  }
  return GroupedMm(std::move(cast), std::move(factors), std::move(offsets));
}

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_GROUPED_PRODUCT_H_
