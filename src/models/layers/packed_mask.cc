#include "models/layers/packed_mask.h"

#include <utility>

#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/in_place.h"
#include "graph/ops/indexing.h"
#include "graph/ops/reduction.h"
#include "graph/ops/views.h"
#include "models/layers/functional.h"

namespace foretell {
namespace {

// Which of a row's sequences each token belongs to, [b, s].
Tensor SequencesOf(const Tensor& position_ids, int64_t batch) {
  const Tensor spread = Expand(position_ids, {batch, -1});
  const int64_t length = position_ids.size(1);
  const Tensor first =
      SubScalar(length == 1 ? Alias(spread) : Slice(spread, 1, 0, 1), 1);
  const auto step = [&] {
    const Tensor joined = Cat2(first, spread, -1);
    const Tensor before = Slice(joined, -1, 0, length);
    return Sub(Slice(joined, -1, 1, length + 1), before);
  };
  const Tensor steps = step();
  return Cumsum(NeScalar(steps, 1), -1);
}

// Conditions are joined by "and", beginning with one that always holds.
Tensor Joined(const Tensor& always, const Tensor& condition) {
  return BitwiseAnd(View(always, {always.size(0), 1}), condition);
}

// Which keys each query sees by place alone, [s, s].
Tensor VisibleByPlace(const Tensor& positions, const Tensor& keys,
                      int64_t window) {
  const int64_t length = positions.size(0);
  const auto column = [&](const Tensor& x) { return View(x, {length, 1}); };
  const auto is_behind = [&] { return Le(keys, column(positions)); };
  if (window == 0) return is_behind();
  const Tensor always = NewOnes(positions, {length}, DType::kBool);
  const auto is_near = [&] {
    const Tensor start = SubScalar(positions, static_cast<double>(window));
    return Gt(keys, column(start));
  };
  const Tensor near = Joined(always, is_near());
  return BitwiseAnd(near, is_behind());
}

}  // namespace

Tensor PackedMask(const Tensor& hidden, const Tensor& position_ids,
                  std::string_view attention, int64_t window) {
  Builder& builder = hidden.builder();
  const int64_t batch = hidden.size(0);
  const int64_t length = hidden.size(1);
  const Tensor sequences = SequencesOf(position_ids, batch);
  if (builder.execution().flash) return {};
  const Tensor positions = Select(position_ids, 0, 0);
  const Tensor keys = AddScalarInto(Arange(builder, length), 0);
  const Tensor rows = Arange(builder, batch);
  const Tensor heads = Arange(builder, 1);
  const auto visible = [&] {
    const Tensor always = NewOnes(positions, {length}, DType::kBool);
    const Tensor by_place =
        Joined(always, VisibleByPlace(positions, keys, window));
    const auto take = [&](const Tensor& at) {
      const Tensor places[] = {View(rows, {batch, 1}), at};
      return Index(sequences, places);
    };
    const Tensor of_queries = take(positions);
    const Tensor of_keys = take(keys);
    const Tensor is_same = Eq(View(of_queries, {batch, length, 1}),
                              View(of_keys, {batch, 1, length}));
    return BitwiseAnd(by_place, is_same);
  };
  Tensor seen = Expand(Unsqueeze(visible(), 1), {batch, 1, length, length});
  if (attention == "sdpa") return seen;
  const Tensor zero = Transfer(LiftFresh(builder, {}, hidden.dtype()));
  const Tensor smallest =
      ScalarTensor(builder, SmallestOf(hidden.dtype()), hidden.dtype());
  return Where(seen, zero, smallest);
}

}  // namespace foretell
