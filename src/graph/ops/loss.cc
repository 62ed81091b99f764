#include "graph/ops/loss.h"

#include <array>
#include <utility>

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

constexpr OperationRow kMseLoss = {
    "aten.mse_loss.default", "The mean squared difference from targets: [].",
    InferMseLoss};
constexpr OperationRow kNllLoss = {
    "aten.nll_loss_forward.default",
    "The mean negative log-likelihood over targets [n]: [], and the weight.",
    InferNllLoss};

constexpr std::array kRows = {&kNllLoss, &kMseLoss};

}  // namespace

std::span<const OperationRow* const> LossOperations() { return kRows; }

Tensor MseLoss(Tensor x, Tensor targets) {
  return x.builder().Emit(kMseLoss, {std::move(x), std::move(targets)});
}

Tensor NllLoss(Tensor log_probabilities, Tensor targets, int64_t ignored) {
  return log_probabilities.builder().Emit(
      kNllLoss, {std::move(log_probabilities), std::move(targets)},
      {int64_t{1}, ignored});
}

}  // namespace foretell
