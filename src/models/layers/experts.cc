#include "models/layers/experts.h"

#include <limits>
#include <tuple>
#include <utility>

#include "graph/ops/activations.h"
#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/in_place.h"
#include "graph/ops/indexing.h"
#include "graph/ops/matmul.h"
#include "graph/ops/reduction.h"
#include "graph/ops/sorting.h"
#include "graph/ops/views.h"
#include "models/layers/functional.h"
#include "models/layers/grouped_product.h"
#include "models/layers/jitter.h"

namespace foretell {

TopKRouter::TopKRouter(const Module& at, const ExpertsConfig& settings)
    : module(at),
      config(settings),
      weight(at.Parameter("weight", {config.experts, config.hidden})) {}

Routing TopKRouter::Forward(const Tensor& hidden) const {
  AdaptedModule adapted(module);
  // GraniteMoe's sees the rows as they come.
  const Tensor rows =
      config.softmax_of_chosen ? hidden : View(hidden, {-1, config.hidden});
  Routing out;
  out.logits = ApplyLinear(rows, adapted.Read(weight), Tensor());
  if (config.softmax_of_chosen) {
    out.logits = To(std::move(out.logits), DType::kFloat32);
    const auto [best, experts] = TopK(out.logits, config.per_token);
    out.weights = To(SoftmaxOp(best, -1), hidden.dtype());
    out.experts = experts;
    return out;
  }
  const Tensor probabilities =
      config.softmax_casts ? SoftmaxInFloat(out.logits, -1)
                           : SoftmaxOp(To(out.logits, DType::kFloat32), -1);
  auto [chosen, experts] = TopK(probabilities, config.per_token);
  if (config.normalizes) {
    const Tensor sum = SumOver(chosen, -1, /*keep=*/true);
    chosen = DivInto(chosen, sum);
  }
  if (config.softmax_casts) chosen = To(chosen, out.logits.dtype());
  out.weights = std::move(chosen);
  out.experts = std::move(experts);
  return out;
}

namespace {

// [experts, out, in], or the other way round.
Shape FactorsOf(const ExpertsConfig& config, int64_t out, int64_t in) {
  return config.clamped ? Shape{config.experts, in, out}
                        : Shape{config.experts, out, in};
}

std::optional<ParameterId> BiasOf(const Module& at, const ExpertsConfig& config,
                                  std::string_view name, int64_t out) {
  if (!config.clamped) return std::nullopt;
  return at.Parameter(name, {config.experts, out});
}

}  // namespace

FusedExperts::FusedExperts(const Module& at, const ExpertsConfig& settings)
    : module(at),
      config(settings),
      gate_up_proj(at.Parameter(
          "gate_up_proj",
          FactorsOf(config, 2 * config.intermediate, config.hidden))),
      gate_up_proj_bias(
          BiasOf(at, config, "gate_up_proj_bias", 2 * config.intermediate)),
      down_proj(at.Parameter(
          "down_proj", FactorsOf(config, config.hidden, config.intermediate))),
      down_proj_bias(BiasOf(at, config, "down_proj_bias", config.hidden)) {
  if (!config.clamped) {
    act_fn.emplace(at.Child(config.activation_name), config.activation);
  }
  for (const auto parameter : {std::optional(gate_up_proj), gate_up_proj_bias,
                               std::optional(down_proj), down_proj_bias}) {
    if (!parameter) continue;
    at.builder().MarkExperts(*parameter, config.experts, config.per_token);
  }
}

Tensor FusedExperts::ApplyGate(const Tensor& both) const {
  if (!config.clamped) {
    const std::vector<Tensor> halves = Split(both, config.intermediate, -1);
    return Mul(act_fn->Forward(halves[0]), halves[1]);
  }
  const double limit = config.clamped->limit;
  constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();
  Tensor gate = Slice(both, 1, 0, kEnd, 2);
  Tensor up = Slice(both, 1, 1, kEnd, 2);
  gate = ClampMost(gate, limit);
  up = Clamp(up, -limit, limit);
  const auto glu = [&] {
    const auto opened = [&] {
      return Sigmoid(MulScalar(gate, config.clamped->alpha));
    };
    return Mul(gate, opened());
  };
  const Tensor activated = glu();
  return Mul(AddScalar(up, 1), activated);
}

Tensor FusedExperts::Forward(const Tensor& hidden, const Routing& routing,
                             std::string_view experts) const {
  AdaptedModule adapted(module);
  return experts == "eager" ? RunLoop(adapted, hidden, routing)
                            : RunGrouped(adapted, hidden, routing);
}

// Tokens are put in the order of their experts, run in groups, weighted, put
// back, and summed over the experts of each. Names live as they do there.
Tensor FusedExperts::RunGrouped(AdaptedModule& adapted, const Tensor& hidden,
                                const Routing& routing) const {
  Builder& builder = module.builder();
  const int64_t tokens = hidden.size(0);
  const Tensor weights = View(routing.weights, {-1});
  const Tensor experts = View(routing.experts, {-1});
  const auto [sorted, order] = Sort(experts);
  const auto rows_by_expert = [&](const Tensor& permutation) {
    const Tensor token_of = FloorDivide(permutation, config.per_token);
    return Index(hidden, std::span(&token_of, 1));
  };
  const Tensor rows = rows_by_expert(order);
  const Tensor sorted_weights = Index(weights, std::span(&order, 1));
  const Tensor counted = To(sorted, DType::kInt32);
  const Tensor counts = Histogram(counted, config.experts);
  const Tensor offsets = Cumsum(counts, 0, DType::kInt32);
  Tensor bias;
  const auto gather_bias = [&](const std::optional<ParameterId>& biases) {
    if (biases) bias = Index(builder.Read(*biases), std::span(&sorted, 1));
  };
  const auto grouped = [&](const Tensor& x, ParameterId factors) {
    Tensor read = adapted.Read(factors);
    if (!config.clamped) read = Transpose(read, -2, -1);
    const Tensor product = GroupedProduct(x, read, offsets);
    return bias.empty() ? product : AddInto(product, bias);
  };
  gather_bias(gate_up_proj_bias);
  Tensor projected = grouped(rows, gate_up_proj);
  projected = ApplyGate(projected);
  gather_bias(down_proj_bias);
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

SparseMlp::SparseMlp(const Module& at, const ExpertsConfig& settings)
    : module(at),
      config(settings),
      gate(at.Child(config.router_name, RegionKind::kRouter), config),
      experts(at.Child("experts", RegionKind::kExperts), config) {}

Tensor SparseMlp::Forward(Tensor hidden, const ExpertsCall& call) const {
  const Scope scope = module.Enter();
  const Shape shape = hidden.shape();
  hidden = ApplyJitter(std::move(hidden), config.jitter);
  hidden = View(hidden, {-1, config.hidden});
  const Routing routing = gate.Forward(hidden);
  if (config.keeps_logits) call.router_logits->push_back(routing.logits);
  hidden = experts.Forward(hidden, routing, call.experts);
  return View(hidden, shape);
}

Tensor LoadBalancingLoss(Builder& builder, std::span<const Tensor> logits,
                         const ExpertsConfig& config) {
  Tensor chosen = Zeros(builder, {config.experts}, DType::kFloat32);
  Tensor probable = Zeros(builder, {config.experts}, DType::kFloat32);
  double rows = 0;
  // Python's names outlive each turn of the loop.
  Tensor weights;
  Tensor best;
  Tensor experts;
  for (const Tensor& scores : logits) {
    weights = SoftmaxOp(scores, -1);
    std::tie(best, experts) = TopK(weights, config.per_token);
    chosen = Add(chosen, Histogram(To(View(experts, {-1}), DType::kInt32),
                                   config.experts));
    probable =
        Add(probable, SumOver(To(weights, DType::kFloat32), 0, /*keep=*/false));
    rows += static_cast<double>(weights.size(0));
  }
  const Tensor chosen_share = DivScalar(chosen, rows);
  const Tensor probable_share = DivScalar(probable, rows);
  const Tensor uneven = SumAll(Mul(chosen_share, Unsqueeze(probable_share, 0)));
  return MulScalar(uneven, static_cast<double>(config.experts));
}

}  // namespace foretell
