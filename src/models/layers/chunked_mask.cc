#include "models/layers/chunked_mask.h"

#include <array>

#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/indexing.h"
#include "graph/ops/views.h"
#include "models/layers/mask_parts.h"

namespace foretell {

Tensor ChunkedMask(const Tensor& hidden, const Tensor& position_ids,
                   std::string_view attention, int64_t chunk) {
  Builder& builder = hidden.builder();
  const int64_t batch = hidden.size(0);
  const int64_t length = hidden.size(1);
  LookForPackedSequences(position_ids.size(0) == batch
                             ? position_ids
                             : Expand(position_ids, {batch, -1}));
  // How many tokens of padding begin each row: none.
  const Tensor padding = Zeros(builder, {batch}, DType::kInt64);
  if (attention == "sdpa" && length < chunk) return {};
  const auto seen = [&] {
    Tensor rows = Arange(builder, batch);
    Tensor heads = Arange(builder, 1);
    Tensor queries = AddScalar(Arange(builder, length), 0);
    Tensor keys = AddScalar(Arange(builder, length), 0);
    rows = SpreadRange(std::move(rows), 0);
    heads = SpreadRange(std::move(heads), 1);
    queries = SpreadRange(std::move(queries), 2);
    keys = SpreadRange(std::move(keys), 3);
    const std::array<Tensor, 1> row = {rows};
    const auto chunk_of = [&](const Tensor& places) {
      return FloorDivide(Sub(places, Index(padding, row)), chunk);
    };
    const auto same = [&] {
      const Tensor of_keys = chunk_of(keys);
      return Eq(of_keys, chunk_of(queries));
    };
    Tensor out = NewOnes(queries, {}, DType::kBool);
    out = BitwiseAnd(out, same());
    out = BitwiseAnd(out, Le(keys, queries));
    return Expand(out, {batch, -1, length, length});
  };
  return MaskOf(seen(), hidden, attention);
}

}  // namespace foretell
