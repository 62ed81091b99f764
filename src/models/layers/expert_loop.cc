// Experts one after another, as each modeling file writes them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/in_place.h"
#include "graph/ops/indexing.h"
#include "graph/ops/matmul.h"
#include "graph/ops/reduction.h"
#include "graph/ops/sorting.h"
#include "graph/ops/views.h"
#include "models/layers/experts.h"
#include "models/layers/functional.h"

namespace foretell {
namespace {

// one_hot(experts [tokens, per_token], classes) as [classes, per_token,
// tokens].
Tensor ExpertMask(const Tensor& experts, int64_t classes) {
  Shape shape = experts.shape();
  shape.Append(classes);
  const Tensor hot = Zeros(experts.builder(), shape, DType::kInt64);
  ScatterValue(hot, -1, Unsqueeze(experts, -1), 1);
  return Permute(hot, {2, 1, 0});
}

// parameter[index], for an index that lies on the device: Python reads it.
Tensor SliceOf(const Tensor& table, const Tensor& index, int64_t at) {
  LocalScalar(index);
  return Select(table, 0, at);
}

}  // namespace

Tensor FusedExperts::RunLoop(AdaptedModule& adapted, const Tensor& hidden,
                             const Routing& routing) const {
  Builder& builder = module.builder();
  const int64_t pairs = hidden.size(0) * config.per_token;
  const int64_t hit_count = std::min(pairs, config.experts);
  builder.Assume(
      fmt::format("tokens spread evenly over {} experts, {} to each token",
                  config.experts, config.per_token));
  Tensor out = ZerosLike(hidden);
  // Most files leave a class for tokens that no expert of this device serves.
  const Tensor mask = ExpertMask(
      routing.experts, config.experts + (config.clamped.has_value() ? 0 : 1));
  const Tensor hit =
      Nonzero(GtScalar(SumAxes(mask, {1, 2}, false), 0), hit_count);
  const std::vector<Tensor> indices =
      hit_count > 0 ? Unbind(hit, 0) : std::vector<Tensor>();
  // Python's names outlive each turn of the loop.
  Tensor index;
  std::vector<Tensor> places;
  Tensor rows;
  Tensor both;
  // Most files give one name to all three.
  std::array<Tensor, 3> names;
  Tensor& gated = names[0];
  Tensor& product = names[config.clamped ? 1 : 0];
  Tensor& weighted = names[config.clamped ? 2 : 0];
  const auto multiply = [&](const Tensor& x, ParameterId factors,
                            const std::optional<ParameterId>& bias,
                            int64_t expert) {
    const Tensor slice = SliceOf(adapted.Read(factors), index, expert);
    if (!bias) return ApplyLinear(x, slice, Tensor());
    const Tensor unbiased = Mm(x, slice);
    return Add(unbiased, SliceOf(builder.Read(*bias), index, expert));
  };
  for (int64_t expert = 0; expert < hit_count; ++expert) {
    index = Select(indices[static_cast<size_t>(expert)], 0, 0);
    LocalScalar(EqScalar(index, static_cast<double>(config.experts)));
    const int64_t count =
        pairs / config.experts + (expert < pairs % config.experts ? 1 : 0);
    places = Unbind(Nonzero(SliceOf(mask, index, expert), count), 1);
    rows = Index(hidden, std::span(&places[1], 1));
    both = multiply(rows, gate_up_proj, gate_up_proj_bias, expert);
    gated = ApplyGate(both);
    product = multiply(gated, down_proj, down_proj_bias, expert);
    const auto weight = [&] {
      const std::array<Tensor, 2> chosen = {places[1], places[0]};
      return Index(Unsqueeze(routing.weights, 2), chosen);
    };
    weighted = Mul(product, weight());
    out = IndexAdd(out, places[1], To(weighted, out.dtype()));
  }
  return out;
}

}  // namespace foretell
