#include "models/layers/mask_parts.h"

#include <utility>

#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/reduction.h"
#include "graph/ops/views.h"
#include "models/layers/functional.h"

namespace foretell {

void LookForPackedSequences(const Tensor& position_ids) {
  // A slice of the whole axis is the tensor under another handle.
  const Tensor first =
      SubScalar(position_ids.size(1) == 1 ? Alias(position_ids)
                                          : Slice(position_ids, 1, 0, 1),
                1);
  const auto difference = [&] {
    const Tensor joined = Cat2(first, position_ids, -1);
    const int64_t length = joined.size(-1);
    const Tensor before = Slice(joined, -1, 0, length - 1);
    return Sub(Slice(joined, -1, 1, length), before);
  };
  const Tensor step = difference();
  Tensor starts = NeScalar(step, 1);
  starts = Cumsum(starts, -1);
  Tensor single = EqScalar(Select(starts, 1, -1), 0);
  single = All(single);
  LocalScalar(single);
}

Tensor SpreadRange(Tensor x, int axis) {
  for (int at = 0; at < 4; ++at) {
    if (at != axis) x = Unsqueeze(x, at);
  }
  return x;
}

Tensor MaskOf(const Tensor& seen, const Tensor& hidden,
              std::string_view attention) {
  if (attention == "sdpa") return seen;
  Builder& builder = hidden.builder();
  const Tensor zero = Zeros(builder, {}, hidden.dtype());
  const Tensor smallest =
      ScalarTensor(builder, SmallestOf(hidden.dtype()), hidden.dtype());
  return Where(seen, zero, smallest);
}

}  // namespace foretell
