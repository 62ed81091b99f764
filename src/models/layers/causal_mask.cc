#include "models/layers/causal_mask.h"

#include <algorithm>
#include <span>

#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/indexing.h"
#include "graph/ops/reduction.h"
#include "graph/ops/views.h"
#include "models/layers/functional.h"
#include "models/layers/made_mask.h"
#include "models/layers/mask_parts.h"
#include "models/layers/packed_mask.h"

namespace foretell {
namespace {

// Which keys [t] each query sees: those behind it, of them the last `window`,
// and those that `kept` [b, t] has. Conditions are joined one by one where
// there are several.
Tensor VisibleKeys(const Tensor& hidden, const Tensor& kept, int64_t window,
                   int64_t past) {
  const int64_t batch = hidden.size(0);
  const int64_t length = hidden.size(1);
  Builder& builder = hidden.builder();
  Tensor batch_range = Arange(builder, batch);
  Tensor head_range = Arange(builder, 1);
  Tensor query_range =
      AddScalar(Arange(builder, length), static_cast<double>(past));
  // A window's cache has let go of what lies before it.
  const int64_t cached = window > 0 ? std::min(past, window - 1) : past;
  Tensor key_range = AddScalar(Arange(builder, cached + length),
                               static_cast<double>(past - cached));
  batch_range = SpreadRange(std::move(batch_range), 0);
  head_range = SpreadRange(std::move(head_range), 1);
  query_range = SpreadRange(std::move(query_range), 2);
  key_range = SpreadRange(std::move(key_range), 3);
  // Conditions that are joined begin with one that always holds.
  const auto by_place = [&] {
    if (window == 0) return Le(key_range, query_range);
    Tensor seen = NewOnes(query_range, {}, DType::kBool);
    const auto start = static_cast<double>(std::max<int64_t>(window, 0));
    seen = BitwiseAnd(seen, Gt(key_range, SubScalar(query_range, start)));
    return BitwiseAnd(seen, Le(key_range, query_range));
  };
  Tensor seen;
  if (kept.empty()) {
    seen = by_place();
  } else {
    seen = NewOnes(query_range, {}, DType::kBool);
    seen = BitwiseAnd(seen, by_place());
    const Tensor places[] = {batch_range, key_range};
    seen = BitwiseAnd(seen, Index(kept, places));
  }
  return Expand(seen, {batch, -1, length, cached + length});
}

}  // namespace

Tensor CausalMask(const Tensor& hidden, const Tensor& position_ids,
                  std::string_view attention, int64_t window, int64_t past,
                  bool may_skip) {
  const int64_t batch = hidden.size(0);
  const int64_t length = hidden.size(1);
  const bool is_looked_at = !position_ids.empty();
  if (is_looked_at && hidden.builder().library().masks_packed_sequences) {
    return PackedMask(hidden, position_ids, attention, window);
  }
  if (is_looked_at) {
    LookForPackedSequences(position_ids.size(0) == batch
                               ? position_ids
                               : Expand(position_ids, {batch, -1}));
  }
  // What a window's cache still holds counts, too.
  const int64_t cached = window > 0 ? std::min(past, window - 1) : past;
  const bool windowed = window != 0 && cached + length >= window;
  // flash-attention's kernels have a window of their own.
  const bool needs_none = !windowed || hidden.builder().execution().flash;
  if (attention == "sdpa" && needs_none && may_skip) return {};

  return MaskOf(VisibleKeys(hidden, Tensor(), window, past), hidden, attention);
}

Tensor MadeCausalMask(const Tensor& hidden, std::string_view attention,
                      int64_t past) {
  return MaskOf(VisibleKeys(hidden, Tensor(), 0, past), hidden, attention);
}

Tensor MaskOfBothSides(const Tensor& hidden, const Tensor& position_ids,
                       std::string_view attention, int64_t window) {
  Builder& builder = hidden.builder();
  const int64_t batch = hidden.size(0);
  const int64_t length = hidden.size(1);
  if (!position_ids.empty()) {
    LookForPackedSequences(position_ids.size(0) == batch
                               ? position_ids
                               : Expand(position_ids, {batch, -1}));
  }
  const Tensor batch_range = Arange(builder, batch);
  const Tensor head_range = Arange(builder, 1);
  const Tensor queries = AddScalar(Arange(builder, length), 0);
  const Tensor keys = AddScalar(Arange(builder, length), 0);
  const Shape column = {length, 1};
  // vmap looks at one slice for the dtype that two conditions promote to.
  const auto join = [&](const Tensor& x, const Tensor& y, bool any) {
    Select(y, 1, 0);
    Select(x, 0, 0);
    const Tensor wide = View(x, column);
    return any ? BitwiseOr(wide, y) : BitwiseAnd(wide, y);
  };
  const auto behind = [&] { return Le(keys, View(queries, column)); };
  const auto causal = [&] {
    const Tensor none = NewZerosOf(queries, {length}, DType::kBool);
    if (window == 0) return join(none, behind(), true);
    const auto in_window = [&] {
      const auto near = [&] {
        Select(queries, 0, 0);
        const Tensor first = SubScalar(queries, static_cast<double>(window));
        return Gt(keys, View(first, column));
      };
      const auto seen = [&] {
        const Tensor all = NewOnes(queries, {length}, DType::kBool);
        return join(all, near(), false);
      };
      const Tensor some = seen();
      return BitwiseAnd(some, behind());
    };
    return join(none, in_window(), true);
  };
  const auto overlay = [&] {
    Select(keys, 0, 0);
    Select(queries, 0, 0);
    const auto distance = [&] { return Sub(View(queries, column), keys); };
    return LtScalar(Abs(distance()), static_cast<double>(window));
  };
  const auto seen_by = [&] {
    const Tensor before = causal();
    if (window != 0) return BitwiseOr(before, overlay());
    const Tensor always = Transfer(LiftFresh(builder, {}, DType::kBool));
    Select(before, 1, 0);
    return BitwiseOr(before, always);
  };
  Tensor seen = Expand(Unsqueeze(seen_by(), 0), {1, length, length});
  seen = Expand(Unsqueeze(seen, 0), {batch, 1, length, length});
  return MaskOf(seen, hidden, attention);
}

Tensor CausalMaskOver(const Tensor& padding, const Tensor& hidden,
                      std::string_view attention, const MaskSpan& span) {
  Builder& builder = hidden.builder();
  const Tensor kept = To(padding, DType::kBool);
  if (builder.execution().flash) return {};
  const int64_t cached =
      span.window > 0 ? std::min(span.past, span.window - 1) : span.past;
  const int64_t keys = cached + hidden.size(1);
  const bool windowed = span.window != 0 && keys >= span.window;
  if (attention == "sdpa" && span.may_skip) {
    Tensor seen = kept;
    if (kept.size(1) > keys) {
      const Tensor places = AddScalar(Arange(builder, keys),
                                      static_cast<double>(span.past - cached));
      seen = Index(kept, std::span(&places, 1), 1);
    }
    const auto count = static_cast<double>(seen.size(0) * seen.size(1));
    const auto is_full = [&] { return EqScalar(SumAll(seen), count); };
    if (!windowed) {
      LocalScalar(is_full());
      return {};
    }
  }
  return MaskOf(VisibleKeys(hidden, kept, span.window, span.past), hidden,
                attention);
}

void LookThroughMask(const Tensor& padding) {
  const Tensor kept = To(padding, DType::kBool);
  LocalScalar(All(kept));
}

}  // namespace foretell
