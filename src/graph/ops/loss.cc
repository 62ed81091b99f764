#include "graph/ops/loss.h"

#include <array>
#include <utility>

#include "graph/ops/elementwise.h"
#include "graph/ops/loss_gradient.h"
#include "graph/strides.h"

namespace foretell {
namespace {

std::string InferNllLoss(const OperationArguments& args,
                         std::vector<OperationOutput>& outputs) {
  const Value& x = args.input(0);
  const Value& targets = args.input(1);
  if (x.shape.rank() != 2 || targets.shape.rank() != 1 ||
      x.shape[0] != targets.shape[0]) {
    return x.shape.ToString() + " has no targets in " +
           targets.shape.ToString();
  }
  outputs.push_back({{}, {}, x.dtype, -1});  // the loss
  outputs.push_back({{}, {}, x.dtype, -1});  // the weight of all targets
  return "";
}

std::string InferMseLoss(const OperationArguments& args,
                         std::vector<OperationOutput>& outputs) {
  const Value& x = args.input(0);
  if (x.shape != args.input(1).shape) {
    return x.shape.ToString() + " has no targets in " +
           args.input(1).shape.ToString();
  }
  outputs.push_back({{}, {}, x.dtype, -1});
  return "";
}

std::string InferBinaryCrossEntropy(const OperationArguments& args,
                                    std::vector<OperationOutput>& outputs) {
  const Value& x = args.input(0);
  const Value& targets = args.input(1);
  if (x.shape != targets.shape) {
    return x.shape.ToString() + " has no targets in " +
           targets.shape.ToString();
  }
  outputs.push_back({{}, {}, PromoteTypes(x.dtype, targets.dtype), -1});
  return "";
}

std::string InferMseLossBackward(const OperationArguments& args,
                                 std::vector<OperationOutput>& outputs) {
  const Value* const inputs[] = {&args.input(1), &args.input(2)};
  const Value& x = args.input(1);
  outputs.push_back(
      {x.shape, ElementwiseStrides(inputs, x.shape), x.dtype, -1});
  return "";
}

std::string InferNllLossBackward(const OperationArguments& args,
                                 std::vector<OperationOutput>& outputs) {
  const Value& x = args.input(1);
  outputs.push_back({x.shape, ContiguousStrides(x.shape), x.dtype, -1});
  return "";
}

constexpr Save kSavesBoth[] = {{.input = 0}, {.input = 1}};
// The second output is what the mean was divided by.
constexpr Save kSavesNll[] = {{.input = 0}, {.input = 1}, {.output = 1}};

constexpr OperationRow kBinaryCrossEntropy = {
    .name = "aten.binary_cross_entropy_with_logits.default",
    .doc = "The mean cross entropy of logits and probabilities: [].",
    .infer = InferBinaryCrossEntropy,
    .saves = kSavesBoth,
    .gradient = GradientOfBinaryCrossEntropy,
    .autocast = AutocastPolicy::kFloat32};
constexpr OperationRow kMseLoss = {
    .name = "aten.mse_loss.default",
    .doc = "The mean squared difference from targets: [].",
    .infer = InferMseLoss,
    .saves = kSavesBoth,
    .gradient = GradientOfMseLoss,
    .autocast = AutocastPolicy::kFloat32};
constexpr OperationRow kMseLossBackward = {
    .name = "aten.mse_loss_backward.default",
    .doc = "The gradient of the mean squared difference: that of x.",
    .infer = InferMseLossBackward,
    .differentiable = Differentiable::kNo};
constexpr OperationRow kNllLoss = {.name = "aten.nll_loss_forward.default",
                                   .doc =
                                       "The mean negative log-likelihood over "
                                       "targets [n]: [], and the weight.",
                                   .infer = InferNllLoss,
                                   .saves = kSavesNll,
                                   .gradient = GradientOfNllLoss,
                                   .differentiable_outputs = 1,
                                   .autocast = AutocastPolicy::kFloat32};
constexpr OperationRow kNllLossBackward = {
    .name = "aten.nll_loss_backward.default",
    .doc = "The gradient of the negative log-likelihood: [n, classes].",
    .infer = InferNllLossBackward,
    .differentiable = Differentiable::kNo};

constexpr std::array kRows = {&kNllLoss, &kBinaryCrossEntropy, &kMseLoss,
                              &kNllLossBackward, &kMseLossBackward};

}  // namespace

std::span<const OperationRow* const> LossOperations() { return kRows; }

Tensor BinaryCrossEntropyWithLogits(Tensor x, Tensor targets) {
  return x.builder().Emit(kBinaryCrossEntropy,
                          {std::move(x), std::move(targets)});
}

Tensor MseLoss(Tensor x, Tensor targets) {
  return x.builder().Emit(kMseLoss, {std::move(x), std::move(targets)});
}

Tensor NllLoss(Tensor log_probabilities, Tensor targets, int64_t ignored) {
  return log_probabilities.builder().Emit(
      kNllLoss, {std::move(log_probabilities), std::move(targets)},
      {int64_t{1}, ignored});
}

Tensor MseLossBackward(Tensor grad, Tensor x, Tensor targets) {
  return grad.builder().Emit(
      kMseLossBackward, {std::move(grad), std::move(x), std::move(targets)},
      {int64_t{1}});
}

Tensor NllLossBackward(Tensor grad, Tensor log_probabilities, Tensor targets,
                       Tensor weight) {
  return grad.builder().Emit(kNllLossBackward,
                             {std::move(grad), std::move(log_probabilities),
                              std::move(targets), std::move(weight)},
                             {int64_t{1}});
}

}  // namespace foretell
