#include "models/layers/block_mask.h"

#include <array>
#include <utility>

#include "graph/ops/compare.h"
#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/indexing.h"
#include "graph/ops/views.h"
#include "models/layers/mask_parts.h"

namespace foretell {

Tensor BlockMask(const Tensor& hidden, const Tensor& position_ids,
                 std::string_view attention, int64_t window,
                 const Tensor& blocks) {
  Builder& builder = hidden.builder();
  const int64_t batch = hidden.size(0);
  const int64_t length = hidden.size(1);
  LookForPackedSequences(position_ids.size(0) == batch
                             ? position_ids
                             : Expand(position_ids, {batch, -1}));
  const auto seen = [&] {
    Tensor rows = Arange(builder, batch);
    Tensor heads = Arange(builder, 1);
    Tensor queries = AddScalar(Arange(builder, length), 0);
    Tensor keys = AddScalar(Arange(builder, length), 0);
    rows = SpreadRange(std::move(rows), 0);
    heads = SpreadRange(std::move(heads), 1);
    queries = SpreadRange(std::move(queries), 2);
    keys = SpreadRange(std::move(keys), 3);
    const auto causal = [&] {
      if (window == 0) return Le(keys, queries);
      Tensor near = NewOnes(queries, {}, DType::kBool);
      const auto start = static_cast<double>(window);
      near = BitwiseAnd(near, Gt(keys, SubScalar(queries, start)));
      return BitwiseAnd(near, Le(keys, queries));
    };
    const auto in_block = [&] {
      const std::array<Tensor, 2> at_query = {rows, queries};
      const std::array<Tensor, 2> at_key = {rows, keys};
      const Tensor of_query = Index(blocks, at_query);
      const Tensor of_key = Index(blocks, at_key);
      const Tensor same = Eq(of_query, of_key);
      return BitwiseAnd(same, GeScalar(of_query, 0));
    };
    Tensor out = NewZerosOf(queries, {}, DType::kBool);
    out = BitwiseOr(out, causal());
    out = BitwiseOr(out, in_block());
    return Expand(out, {batch, -1, length, length});
  };
  return MaskOf(seen(), hidden, attention);
}

}  // namespace foretell
