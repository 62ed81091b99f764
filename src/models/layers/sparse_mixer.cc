#include "models/layers/sparse_mixer.h"

#include <limits>
#include <tuple>
#include <utility>

#include "graph/gradient.h"
#include "graph/ops/activations.h"
#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/in_place.h"
#include "graph/ops/indexing.h"
#include "graph/ops/reduction.h"
#include "graph/ops/sorting.h"
#include "graph/ops/views.h"
#include "graph/view_write.h"
#include "models/layers/functional.h"
#include "models/layers/jitter.h"

namespace foretell {
namespace {

constexpr double kNothing = -std::numeric_limits<double>::infinity();

// torch.no_grad()
class NoGradient {
 public:
  explicit NoGradient(Builder& builder)
      : builder_(&builder), outer_(builder.execution()) {
    Execution silent = outer_;
    silent.gradients = false;
    builder.set_execution(silent);
  }
  ~NoGradient() { builder_->set_execution(outer_); }
  NoGradient(const NoGradient&) = delete;
  NoGradient& operator=(const NoGradient&) = delete;

 private:
  Builder* builder_;
  Execution outer_;
};

std::string InferSameAsFirst(const OperationArguments& args,
                             std::vector<OperationOutput>& outputs) {
  const Value& x = args.input(0);
  outputs.push_back({x.shape, x.strides, x.dtype, 0});
  return "";
}

// The gradient of the weight goes to the scores: to the chosen expert's, and
// against all others by their shares.
void GradientOfMultiplier(Gradient& g) {
  const Tensor grad = Mul(g.grad(), g.input(2));
  const auto spread = [&] {
    const Tensor against = MulScalar(grad, -1);
    return Mul(g.input(4), against);
  };
  const Tensor expanded = spread();
  g.Give(1, ScatterAddInto(expanded, -1, g.input(3), grad));
}

// Of the product, the scores, the multiplier, the chosen experts and all
// shares: the product, as a node of the source's own.
constexpr Save kSavesContext[] = {{.input = 2}, {.input = 3}, {.input = 4}};
constexpr OperationRow kMultiplier = {
    .name = "autograd.PhimoeMultiplier",
    .doc = "A product whose gradient goes to the scores that it came from.",
    .infer = InferSameAsFirst,
    .saves = kSavesContext,
    .gradient = GradientOfMultiplier};

Tensor Multiply(const Tensor& scores, const Tensor& multiplier,
                const Tensor& selected, const Tensor& shares,
                const Tensor& mask) {
  const auto multiply = [&] {
    const NoGradient silent(scores.builder());
    return Mul(multiplier, mask);
  };
  return scores.builder().Emit(
      kMultiplier, {multiply(), scores, multiplier, selected, shares});
}

std::string InferFraction(const OperationArguments& args,
                          std::vector<OperationOutput>& outputs) {
  const Value& x = args.input(0);
  outputs.push_back({x.shape, x.strides, DType::kFloat32, -1});
  return "";
}

// A fraction added to marks gives fractions of the default dtype; the table's
// row has numbers of the tensor's own kind.
Tensor AddFraction(Tensor marks, double y) {
  static constexpr OperationRow kRow = {
      .name = "aten.add.Tensor",
      .doc = "Marks as numbers, and a fraction.",
      .infer = InferFraction,
      .differentiable = Differentiable::kNo};
  return marks.builder().Emit(kRow, {std::move(marks)}, {y});
}

// Names that the source uses for both draws.
struct SharedNames {
  Tensor least;
  Tensor best;
  Tensor factor;
  Tensor most;
};

// Which scores lie too far below the best of `candidates`.
void MarkFar(const Tensor& scores, const Tensor& candidates, double nearness,
             SharedNames& names) {
  const NoGradient silent(scores.builder());
  std::tie(names.least, names.best) = MaxLast(candidates);
  names.factor = ClampFrom(Abs(scores), names.least);
  const auto far = [&] {
    const auto distance = [&] {
      return Div(Sub(names.least, scores), names.factor);
    };
    return GtScalar(distance(), 2 * nearness);
  };
  names.least = far();
}

// Gumbel sampling: the place of the greatest of the scores and noise.
Tensor Sample(const Tensor& gates) {
  const auto noisy = [&] {
    const auto noise = [&] { return Log(FillExponential(EmptyLike(gates))); };
    return Sub(gates, noise());
  };
  const auto place = [&] { return MaxLast(noisy(), /*keep=*/false).second; };
  return Unsqueeze(place(), -1);
}

struct Chosen {
  Tensor gates;     // shares of all experts
  Tensor selected;  // [tokens, 1]
  Tensor weight;    // the selected one's share
  Tensor mask;
  Tensor multiplier;
};

void Choose(const Tensor& scores, const Tensor& candidates, bool draws_anew,
            SharedNames& names, Chosen& out) {
  const bool training = scores.builder().execution().training;
  out.gates = MaskedFill(candidates, names.least, kNothing);
  out.selected = training ? Sample(out.gates) : names.best;
  out.gates = SoftmaxOp(out.gates, -1);
  out.weight = Gather(out.gates, -1, out.selected);
  if (!training) {
    out.multiplier = out.weight;
    return;
  }
  std::tie(names.most, names.best) = MaxLast(out.gates);
  const auto one = [&] {
    const Tensor is_best = Eq(out.selected, names.best);
    const auto drawn = [&] {
      Tensor random = RandLike(names.most);
      if (draws_anew) random = FillUniform(std::move(random));
      return GtScalar(std::move(random), 0.75);
    };
    return LogicalOr(is_best, drawn());
  };
  out.mask = one();
  out.mask = To(AddFraction(out.mask, 0.3333), out.gates.dtype());
  out.multiplier =
      Multiply(scores, out.weight, out.selected, out.gates, out.mask);
}

}  // namespace

Routing MixSparsely(const Tensor& scores, double nearness) {
  SharedNames names;
  Chosen first;
  Chosen second;
  MarkFar(scores, scores, nearness, names);
  Choose(scores, scores, false, names, first);
  const Tensor masked_scores =
      ScatterFill(scores, -1, first.selected, kNothing);
  MarkFar(scores, masked_scores, nearness, names);
  Choose(scores, masked_scores, true, names, second);
  Routing out;
  out.weights = Cat2(first.multiplier, second.multiplier, -1);
  first.multiplier = Tensor();
  out.experts = Cat2(first.selected, second.selected, -1);
  return out;
}

PhimoeMlp::PhimoeMlp(const Module& at, const PhimoeKeys& settings)
    : module(at),
      keys(settings),
      router(at.Child("router", RegionKind::kRouter), keys.experts.hidden,
             keys.experts.experts, false),
      experts(at.Child("experts", RegionKind::kExperts), keys.experts) {}

Tensor PhimoeMlp::Forward(Tensor hidden, const ExpertsCall& call) const {
  const Scope scope = module.Enter();
  const Shape shape = hidden.shape();
  hidden = ApplyJitter(std::move(hidden), keys.input_noise);
  Tensor rows = View(hidden, {-1, keys.experts.hidden});
  const auto route = [&] {
    const Scope inner = router.module.Enter();
    if (keys.input_noise > 0 && module.builder().execution().training) {
      const Tensor noise = FillUniform(EmptyLike(rows));
      ViewWrite written = WriteThrough(
          hidden, rows, [&](Tensor view) { return MulInto(view, noise); });
      hidden = std::move(written.base);
      rows = std::move(written.view);
    }
    Builder& builder = module.builder();
    const Tensor scores =
        ApplyLinear(rows, builder.Read(router.weight), Tensor());
    Routing out = MixSparsely(scores, keys.nearness);
    out.logits = scores;
    return out;
  };
  const Routing routing = route();
  if (keys.experts.keeps_logits) call.router_logits->push_back(routing.logits);
  return View(experts.Forward(rows, routing, call.experts), shape);
}

}  // namespace foretell
