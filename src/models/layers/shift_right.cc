#include "models/layers/shift_right.h"

#include <limits>

#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/in_place.h"
#include "graph/ops/indexing.h"
#include "graph/ops/reduction.h"
#include "graph/ops/views.h"

namespace foretell {

Tensor ShiftRight(const Tensor& ids, std::optional<int64_t> start,
                  std::optional<int64_t> padding) {
  if (!start || !padding) {
    ids.builder().Fail(
        "decoder_start_token_id and pad_token_id have to be set");
    return ids;
  }
  constexpr int64_t kToTheEnd = std::numeric_limits<int64_t>::max();
  const Tensor shifted = NewZeros(ids, ids.shape());
  {
    const Tensor kept = CloneContiguous(Slice(ids, 1, 0, -1));
    CopyInto(Slice(shifted, 1, 1, kToTheEnd), kept);
  }
  FillWith(Select(shifted, 1, 0), static_cast<double>(*start));
  FillWhere(shifted, EqScalar(shifted, -100), static_cast<double>(*padding));
  return shifted;
}

Tensor ShiftAround(const Tensor& ids, std::optional<int64_t> padding) {
  if (!padding) {
    ids.builder().Fail("pad_token_id has to be set");
    return ids;
  }
  constexpr int64_t kToTheEnd = std::numeric_limits<int64_t>::max();
  const auto own = static_cast<double>(*padding);
  const Tensor shifted = CloneContiguous(ids);
  FillWhere(shifted, EqScalar(shifted, -100), own);
  const auto count = [&] { return SumOver(NeScalar(shifted, own), 1, false); };
  const auto find = [&] { return Unsqueeze(SubScalar(count(), 1), -1); };
  const Tensor last = find();
  const Tensor start = Squeeze(Gather(shifted, 1, last));
  {
    const Tensor kept = CloneContiguous(Slice(shifted, 1, 0, -1));
    CopyInto(Slice(shifted, 1, 1, kToTheEnd), kept);
  }
  const Tensor first = Select(shifted, 1, 0);
  if (start.shape() == first.shape()) {
    CopyInto(first, start);
  } else {
    // Of one row, whose axis squeezing took away.
    CopyInto(first, Expand(View(start, {}), first.shape()));
  }
  return shifted;
}

}  // namespace foretell
