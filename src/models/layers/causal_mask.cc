#include "models/layers/causal_mask.h"

#include <algorithm>

#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/indexing.h"
#include "graph/ops/reduction.h"
#include "graph/ops/views.h"
#include "models/layers/functional.h"
#include "models/layers/made_mask.h"

namespace foretell {
namespace {

// find_packed_sequence_indices: positions that do not step by one start
// another sequence. For the plain positions of a whole row the answer is no.
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

// Four dims, the extent at `axis`.
Tensor Spread(Tensor x, int axis) {
  for (int at = 0; at < 4; ++at) {
    if (at != axis) x = Unsqueeze(x, at);
  }
  return x;
}

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
  batch_range = Spread(std::move(batch_range), 0);
  head_range = Spread(std::move(head_range), 1);
  query_range = Spread(std::move(query_range), 2);
  key_range = Spread(std::move(key_range), 3);
  Tensor seen;
  if (window != 0 || !kept.empty()) {
    seen = NewOnes(query_range, {}, DType::kBool);
    if (window != 0) {
      const auto start = static_cast<double>(std::max<int64_t>(window, 0));
      seen = BitwiseAnd(seen, Gt(key_range, SubScalar(query_range, start)));
    }
    seen = BitwiseAnd(seen, Le(key_range, query_range));
    if (!kept.empty()) {
      const Tensor places[] = {batch_range, key_range};
      seen = BitwiseAnd(seen, Index(kept, places));
    }
  } else {
    seen = Le(key_range, query_range);
  }
  return Expand(seen, {batch, -1, length, cached + length});
}

// A bool mask as sdpa takes it, or as what eager attention adds to the scores.
Tensor MaskOf(const Tensor& seen, const Tensor& hidden,
              std::string_view attention) {
  if (attention == "sdpa") return seen;
  Builder& builder = hidden.builder();
  const Tensor zero = Zeros(builder, {}, hidden.dtype());
  const Tensor smallest =
      ScalarTensor(builder, SmallestOf(hidden.dtype()), hidden.dtype());
  return Where(seen, zero, smallest);
}

}  // namespace

Tensor CausalMask(const Tensor& hidden, const Tensor& position_ids,
                  std::string_view attention, int64_t window, int64_t past) {
  const int64_t batch = hidden.size(0);
  const int64_t length = hidden.size(1);
  if (!position_ids.empty()) {
    LookForPackedSequences(position_ids.size(0) == batch
                               ? position_ids
                               : Expand(position_ids, {batch, -1}));
  }
  const bool windowed = window != 0 && length >= window;
  if (attention == "sdpa" && !windowed) return {};

  return MaskOf(VisibleKeys(hidden, Tensor(), window, past), hidden, attention);
}

Tensor MadeCausalMask(const Tensor& hidden, std::string_view attention,
                      int64_t past) {
  return MaskOf(VisibleKeys(hidden, Tensor(), 0, past), hidden, attention);
}

Tensor CausalMaskOver(const Tensor& padding, const Tensor& hidden,
                      std::string_view attention) {
  const Tensor kept = To(padding, DType::kBool);
  if (attention != "sdpa") {
    return MaskOf(VisibleKeys(hidden, kept, 0, 0), hidden, attention);
  }
  const auto count = static_cast<double>(kept.size(0) * kept.size(1));
  const auto is_full = [&] { return EqScalar(SumAll(kept), count); };
  LocalScalar(is_full());
  return {};
}

}  // namespace foretell
