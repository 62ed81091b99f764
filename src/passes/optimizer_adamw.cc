#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "graph/ops/activations.h"
#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/foreach.h"
#include "graph/ops/in_place.h"
#include "graph/ops/optimizer.h"
#include "passes/optimizer_kinds.h"

namespace foretell {
namespace {

// torch.optim.AdamW's defaults, with the recorder's lr.
constexpr double kRate = 1e-3;
constexpr double kBeta1 = 0.9;
constexpr double kBeta2 = 0.999;
constexpr double kEpsilon = 1e-8;
constexpr double kDecay = 1 - kRate * 1e-2;

// Parallel lists, as the functions of torch/optim/adam.py take them, one after
// another in one list.
class Lists {
 public:
  explicit Lists(size_t count) : count_(count), all_(kParts * count) {}

  size_t size() const { return count_; }
  TensorList all() const { return all_; }
  TensorList parameters() const { return Part(0); }
  TensorList gradients() const { return Part(1); }
  TensorList averages() const { return Part(2); }             // exp_avg
  TensorList averages_of_squares() const { return Part(3); }  // exp_avg_sq
  TensorList steps() const { return Part(4); }

  void Set(size_t i, const Tensor& parameter, const Tensor& gradient,
           Tensor average, Tensor average_of_squares, Tensor step) {
    all_[i] = parameter;
    all_[count_ + i] = gradient;
    all_[2 * count_ + i] = std::move(average);
    all_[3 * count_ + i] = std::move(average_of_squares);
    all_[4 * count_ + i] = std::move(step);
  }

  std::vector<OptimizerState> TakeStates(
      std::span<const LeafGradient> gradients, bool steps_on_host) {
    std::vector<OptimizerState> states;
    states.reserve(3 * count_);
    for (size_t i = 0; i < count_; ++i) {
      const ValueId leaf = gradients[i].leaf;
      states.push_back({leaf, "step", Take(4, i), steps_on_host});
      states.push_back({leaf, "exp_avg", Take(2, i)});
      states.push_back({leaf, "exp_avg_sq", Take(3, i)});
    }
    return states;
  }

 private:
  static constexpr size_t kParts = 5;
  TensorList Part(size_t part) const {
    return TensorList(all_).subspan(part * count_, count_);
  }
  Tensor Take(size_t part, size_t i) {
    return std::move(all_[part * count_ + i]);
  }

  size_t count_;
  std::vector<Tensor> all_;
};

// Adam._init_group
Lists Gather(Builder& builder, const OptimizerOptions& options,
             std::span<const LeafGradient> gradients) {
  const bool is_fused = options.kind == OptimizerKind::kAdamwFused;
  Lists lists(gradients.size());
  for (size_t i = 0; i < gradients.size(); ++i) {
    const LeafGradient& one = gradients[i];
    const Tensor parameter = builder.Read(one.leaf);
    Tensor step;
    Tensor average;
    Tensor average_of_squares;
    if (!options.first_step) {
      step = builder.State({}, {}, DType::kFloat32);
      average = builder.StateLike(one.leaf);
      average_of_squares = builder.StateLike(one.leaf);
    } else {
      step = is_fused ? Zeros(builder, {}, DType::kFloat32)
                      : LiftFresh(builder, {}, DType::kFloat32);
      average = ZerosLike(parameter);
      average_of_squares = ZerosLike(parameter);
    }
    lists.Set(i, parameter, one.gradient, std::move(average),
              std::move(average_of_squares), std::move(step));
  }
  return lists;
}

// The dtypes among the parameters, in the order in which
// _group_tensors_by_device_and_dtype returns their groups: that of a hash
// table, and libstdc++ puts a new key before those of other buckets, so the
// dtype that comes first is the last. (Three dtypes of which two share a bucket
// would come in another order.)
std::vector<DType> DTypesOf(const Lists& lists) {
  std::vector<DType> dtypes;
  for (const Tensor& parameter : lists.parameters()) {
    const DType dtype = parameter.dtype();
    if (std::ranges::find(dtypes, dtype) == dtypes.end()) {
      dtypes.insert(dtypes.begin(), dtype);
    }
  }
  return dtypes;
}

Lists GroupOf(const Lists& lists, DType dtype) {
  const auto has = [dtype](const Tensor& one) { return one.dtype() == dtype; };
  const auto count = std::ranges::count_if(lists.parameters(), has);
  Lists group(static_cast<size_t>(count));
  size_t at = 0;
  for (size_t i = 0; i < lists.size(); ++i) {
    if (!has(lists.parameters()[i])) continue;
    group.Set(at++, lists.parameters()[i], lists.gradients()[i],
              lists.averages()[i], lists.averages_of_squares()[i],
              lists.steps()[i]);
  }
  return group;
}

// Calls `run` with each group.
template <class Run>
void ForEachGroup(const Lists& lists, const Run& run) {
  const std::vector<DType> dtypes = DTypesOf(lists);
  if (dtypes.size() == 1) return run(lists);
  for (const DType dtype : dtypes) run(GroupOf(lists, dtype));
}

// What the sums of powers are divided by.
struct Corrections {
  double first;
  double second_root;
};

Corrections CorrectionsAt(int step) {
  return {1 - std::pow(kBeta1, step), std::sqrt(1 - std::pow(kBeta2, step))};
}

// _fused_adam
void StepFused(const Lists& lists) {
  ForEachGroup(lists, [](const Lists& group) {
    ForeachAddNumberInto(group.steps(), 1);
    FusedAdamW(group.all());
  });
}

// _multi_tensor_adam
void StepForeach(Builder& builder, const Lists& lists) {
  std::vector<Tensor> roots;  // of a group, until the next one has its own
  ForEachGroup(lists, [&](const Lists& group) {
    ForeachAddInto(group.steps(), LiftFresh(builder, {}, DType::kFloat32));
    ForeachMulNumberInto(group.parameters(), kDecay);
    ForeachLerpInto(group.averages(), group.gradients(), 1 - kBeta1);
    ForeachMulNumberInto(group.averages_of_squares(), kBeta2);
    ForeachAddcmulInto(group.averages_of_squares(), group.gradients(),
                       group.gradients(), 1 - kBeta2);
    // Once for each of the two corrections.
    for (const Tensor& step : group.steps()) LocalScalar(step);
    for (const Tensor& step : group.steps()) LocalScalar(step);
    std::vector<Tensor> next = ForeachSqrt(group.averages_of_squares());
    roots = std::move(next);
    ForeachDivNumbersInto(roots);
    ForeachAddNumberInto(roots, kEpsilon);
    ForeachAddcdivInto(group.parameters(), group.averages(), roots);
  });
}

// _single_tensor_adam
void StepLoop(const Lists& lists, int step) {
  const Corrections corrections = CorrectionsAt(step);
  Tensor denominator;  // lives until the next parameter has its own
  for (size_t i = 0; i < lists.size(); ++i) {
    const Tensor& parameter = lists.parameters()[i];
    const Tensor& gradient = lists.gradients()[i];
    const Tensor& average = lists.averages()[i];
    const Tensor& squares = lists.averages_of_squares()[i];
    AddScalarInto(lists.steps()[i], 1);
    MulScalarInto(parameter, kDecay);
    LerpInto(average, gradient, 1 - kBeta1);
    MulScalarInto(squares, kBeta2);
    AddcmulInto(squares, gradient, gradient, 1 - kBeta2);
    LocalScalar(lists.steps()[i]);
    denominator = AddScalarInto(
        DivScalar(Sqrt(squares), corrections.second_root), kEpsilon);
    AddcdivInto(parameter, average, denominator, -kRate / corrections.first);
  }
}

}  // namespace

OptimizerResult StepAdamW(Builder& builder, const OptimizerOptions& options,
                          std::span<const LeafGradient> gradients) {
  Lists lists = Gather(builder, options, gradients);
  const bool is_fused = options.kind == OptimizerKind::kAdamwFused;
  if (is_fused) {
    StepFused(lists);
  } else if (options.kind == OptimizerKind::kAdamwForeach) {
    StepForeach(builder, lists);
  } else {
    StepLoop(lists, options.first_step ? 1 : 2);
  }
  return {lists.TakeStates(gradients, !is_fused), Tensor()};
}

}  // namespace foretell
