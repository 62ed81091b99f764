#include <cmath>
#include <span>
#include <utility>

#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/in_place.h"
#include "graph/ops/optimizer.h"
#include "graph/ops/reduction.h"
#include "graph/ops/views.h"
#include "graph/strides.h"
#include "passes/optimizer_kinds.h"

namespace foretell {
namespace {

// Adafactor's defaults, with the recorder's lr.
constexpr double kRate = 1e-3;
constexpr double kEpsilon = 1e-30;
constexpr double kClipThreshold = 1.0;
constexpr double kDecayRate = -0.8;

bool IsHalf(const Tensor& tensor) {
  return tensor.dtype() == DType::kFloat16 ||
         tensor.dtype() == DType::kBFloat16;
}

// The shape without one of its axes, counted from the end.
Shape Without(const Shape& shape, int axis) {
  Shape out;
  for (int i = 0; i < shape.rank(); ++i) {
    if (i != shape.rank() + axis) out.Append(shape[i]);
  }
  return out;
}

// torch.zeros(shape).to(like): made on the host, then brought over.
Tensor ZerosOnCard(Builder& builder, const Shape& shape, DType dtype) {
  if (dtype != DType::kFloat32) {
    return To(Zeros(builder, shape, DType::kFloat32), dtype);
  }
  return Transfer(Zeros(builder, shape, DType::kFloat32));
}

// Adafactor._rms
Tensor RootMeanSquare(const Tensor& tensor) {
  const double elements =
      static_cast<double>(tensor.shape().Elements().value_or(0));
  return DivScalar(VectorNorm(tensor), std::sqrt(elements));
}

// Adafactor._approx_sq_grad
Tensor ApproximateSquares(const Tensor& row, const Tensor& column) {
  const Tensor row_factor = Unsqueeze(RsqrtInto(Div(row, MeanLast(row))), -1);
  const Tensor column_factor = Rsqrt(Unsqueeze(column, -2));
  return Mul(row_factor, column_factor);
}

// What Adafactor keeps for one parameter: row and column, or squares.
struct States {
  Tensor row;
  Tensor column;
  Tensor squares;
  Tensor rms;  // a number in the first step, until it is measured
};

class Update {
 public:
  Update(Builder& builder, bool is_first)
      : builder_(&builder),
        is_first_(is_first),
        decay_(1 - std::pow(is_first ? 1.0 : 2.0, kDecayRate)) {}

  // `keeps_earlier`: something else still holds what was measured before.
  States Run(const LeafGradient& one, bool keeps_earlier) {
    gradient_ = one.gradient;
    if (IsHalf(gradient_)) gradient_ = To(gradient_, DType::kFloat32);
    States states = Init();
    const Tensor parameter = builder_->Read(one.leaf);
    full_ = parameter;
    if (IsHalf(parameter)) full_ = To(parameter, DType::kFloat32);
    earlier_ = std::exchange(states.rms, Tensor());
    states.rms = RootMeanSquare(full_);
    if (!keeps_earlier) earlier_ = Tensor();
    update_ = AddScalar(PowScalar(gradient_, 2), kEpsilon);
    Precondition(states);
    DivInto(update_,
            ClampInto(DivScalar(RootMeanSquare(update_), kClipThreshold), 1));
    MulScalarInto(update_, kRate);
    AddInto(full_, Neg(update_));
    if (IsHalf(parameter)) CopyInto(parameter, full_);
    return states;
  }

  Tensor TakeEarlier() { return std::move(earlier_); }

 private:
  Tensor State(const Shape& shape) {
    return builder_->State(shape, ContiguousStrides(shape), gradient_.dtype());
  }

  States Init() {
    const Shape shape = gradient_.shape();
    const bool is_factored = shape.rank() >= 2;
    States states;
    if (is_first_) {
      const DType dtype = gradient_.dtype();
      if (is_factored) {
        const Shape row = Without(shape, -1);
        const Shape column = Without(shape, -2);
        states.row = ZerosOnCard(*builder_, row, dtype);
        states.column = ZerosOnCard(*builder_, column, dtype);
      } else {
        states.squares = ZerosLike(gradient_);
      }
      return states;
    }
    if (is_factored) {
      states.row = State(Without(shape, -1));
      states.column = State(Without(shape, -2));
    } else {
      states.squares = State(shape);
    }
    states.rms = State({});
    return states;
  }

  // The gradient over the root of its running mean square.
  void Precondition(const States& states) {
    if (!states.squares.empty()) {
      MulScalarInto(states.squares, decay_);
      AddInto(states.squares, update_);
      update_ = MulInto(Rsqrt(states.squares), gradient_);
      return;
    }
    MulScalarInto(states.row, decay_);
    AddInto(states.row, MeanOver(update_, -1));
    MulScalarInto(states.column, decay_);
    AddInto(states.column, MeanOver(update_, -2));
    update_ = ApproximateSquares(states.row, states.column);
    MulInto(update_, gradient_);
  }

  Builder* builder_;
  bool is_first_;
  double decay_;
  // Names of the loop over the parameters: each holds what it held until the
  // next parameter gives it something else.
  Tensor gradient_;
  Tensor full_;  // the parameter, in float32 where it is half precision
  Tensor update_;
  Tensor earlier_;  // what was measured in the step before
};

}  // namespace

OptimizerResult StepAdafactor(Builder& builder, const OptimizerOptions& options,
                              std::span<const LeafGradient> gradients) {
  OptimizerResult result;
  result.states.reserve(3 * gradients.size());
  Update update(builder, options.first_step);
  for (const LeafGradient& one : gradients) {
    const bool is_last = &one == &gradients.back();
    States states = update.Run(one, is_last && options.caller_holds_last);
    const auto add = [&](std::string_view name, Tensor& tensor) {
      if (tensor.empty()) return;
      result.states.push_back({one.leaf, name, std::move(tensor)});
    };
    add("exp_avg_sq_row", states.row);
    add("exp_avg_sq_col", states.column);
    add("exp_avg_sq", states.squares);
    add("RMS", states.rms);
  }
  result.held_by_caller = update.TakeEarlier();
  return result;
}

}  // namespace foretell
