#include "models/layers/ungated_experts.h"

#include <span>

#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/in_place.h"
#include "graph/ops/indexing.h"

#include "graph/ops/reduction.h"
#include "graph/ops/sorting.h"
#include "graph/ops/views.h"
#include "models/layers/adapted_module.h"
#include "models/layers/grouped_product.h"

namespace foretell {

UngatedExperts::UngatedExperts(const Module& at, const ExpertsConfig& settings)
    : module(at),
      config(settings),
      up_proj(at.Parameter(
          "up_proj", {config.experts, config.intermediate, config.hidden})),
      down_proj(at.Parameter(
          "down_proj", {config.experts, config.hidden, config.intermediate})),
      act_fn(at.Child("act_fn"), config.activation) {
  at.builder().MarkExperts(up_proj, config.experts, config.per_token);
  at.builder().MarkExperts(down_proj, config.experts, config.per_token);
}

// FusedExperts::RunGrouped, but for the gate.
Tensor UngatedExperts::Forward(const Tensor& hidden, const Routing& routing,
                               std::string_view experts) const {
  AdaptedModule adapted(module);
  Builder& builder = module.builder();
  if (experts == "eager") {
    builder.Fail("experts without a gate, one after another, are not derived");
    return hidden;
  }
  const int64_t tokens = hidden.size(0);
  const Tensor weights = View(routing.weights, {-1});
  const Tensor numbers = View(routing.experts, {-1});
  const auto [sorted, order] = Sort(numbers);
  const auto rows_by_expert = [&] {
    const Tensor token_of = FloorDivide(order, config.per_token);
    return Index(hidden, std::span(&token_of, 1));
  };
  const Tensor rows = rows_by_expert();
  const Tensor sorted_weights = Index(weights, std::span(&order, 1));
  const Tensor counted = To(sorted, DType::kInt32);
  const Tensor counts = Histogram(counted, config.experts);
  const Tensor offsets = Cumsum(counts, 0, DType::kInt32);
  const auto grouped = [&](const Tensor& x, ParameterId factors) {
    return GroupedProduct(x, Transpose(adapted.Read(factors), -2, -1), offsets);
  };
  Tensor projected = grouped(rows, up_proj);
  projected = act_fn.Forward(projected);
  projected = grouped(projected, down_proj);
  Tensor weighted = Mul(projected, Unsqueeze(sorted_weights, -1));
  const Tensor inverse = EmptyLike(order);
  IndexPut(inverse, order, Arange(builder, order.size(0)));
  weighted = Index(weighted, std::span(&inverse, 1));
  const Tensor summed =
      SumOver(View(weighted, {tokens, config.per_token, config.hidden}), 1,
              /*keep=*/false);
  return To(summed, hidden.dtype());
}

}  // namespace foretell
