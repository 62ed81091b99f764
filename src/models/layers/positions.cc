#include "models/layers/positions.h"

#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/views.h"

namespace foretell {

Tensor Positions(Builder& builder, int64_t length, int64_t past) {
  if (builder.library().counts_positions_from_past) {
    return ArangeFrom(builder, past, past + length);
  }
  return AddScalar(Arange(builder, length), static_cast<double>(past));
}

Tensor PositionIds(Builder& builder, int64_t length, int64_t past) {
  return Unsqueeze(Positions(builder, length, past), 0);
}

}  // namespace foretell
