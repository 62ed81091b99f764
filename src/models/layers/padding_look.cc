#include "models/layers/padding_look.h"

#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/indexing.h"
#include "graph/ops/reduction.h"

namespace foretell {

void LookForPadding(const Tensor& input_ids, std::optional<int64_t> padding) {
  if (!padding) return;
  const auto ends = [&] {
    Tensor places = LiftFresh(input_ids.builder(), {2}, DType::kInt64);
    places = Transfer(std::move(places));
    return Index(input_ids, {&places, 1}, 1);
  };
  const Tensor looked_at = ends();
  const auto any = [&] {
    const Tensor is_padding =
        EqScalar(looked_at, static_cast<double>(*padding));
    return Any(is_padding);
  };
  LocalScalar(any());
}

}  // namespace foretell
