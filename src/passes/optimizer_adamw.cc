#include <algorithm>
#include <cmath>
#include <ranges>
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

// Parallel lists, as the functions of torch/optim/adam.py take them.
struct Lists {
  std::vector<Tensor> parameters;
  std::vector<Tensor> gradients;
  std::vector<Tensor> averages;             // exp_avg
  std::vector<Tensor> averages_of_squares;  // exp_avg_sq
  std::vector<Tensor> steps;

  size_t size() const { return parameters.size(); }
  void Reserve(size_t count) {
    for (auto* list :
         {&parameters, &gradients, &averages, &averages_of_squares, &steps}) {
      list->reserve(count);
    }
  }
  void AddFrom(const Lists& other, size_t i) {
    parameters.push_back(other.parameters[i]);
    gradients.push_back(other.gradients[i]);
    averages.push_back(other.averages[i]);
    averages_of_squares.push_back(other.averages_of_squares[i]);
    steps.push_back(other.steps[i]);
  }
};

// Adam._init_group
Lists Gather(Builder& builder, const OptimizerOptions& options,
             std::span<const LeafGradient> gradients) {
  const bool is_fused = options.kind == OptimizerKind::kAdamwFused;
  Lists lists;
  lists.Reserve(gradients.size());
  for (const LeafGradient& one : gradients) {
    const Tensor parameter = builder.Read(one.leaf);
    if (options.first_step) {
      lists.steps.push_back(is_fused ? Zeros(builder, {}, DType::kFloat32)
                                     : LiftFresh(builder, {}, DType::kFloat32));
      lists.averages.push_back(ZerosLike(parameter));
      lists.averages_of_squares.push_back(ZerosLike(parameter));
    } else {
      const Value value = builder.ValueOf(one.leaf);
      const auto state = [&] {
        return builder.State(value.shape, value.strides, value.dtype);
      };
      lists.steps.push_back(builder.State({}, {}, DType::kFloat32));
      lists.averages.push_back(state());
      lists.averages_of_squares.push_back(state());
    }
    lists.parameters.push_back(parameter);
    lists.gradients.push_back(one.gradient);
  }
  return lists;
}

// _group_tensors_by_device_and_dtype returns what a hash table holds: libstdc++
// puts a new key before those of other buckets, so the dtype that comes first
// among the parameters is the last group. (Three dtypes of which two share a
// bucket would come in another order.)
std::vector<Lists> Group(const Lists& lists) {
  std::vector<DType> dtypes;
  for (const Tensor& parameter : lists.parameters) {
    if (std::ranges::find(dtypes, parameter.dtype()) == dtypes.end()) {
      dtypes.push_back(parameter.dtype());
    }
  }
  std::vector<Lists> groups;
  for (const DType dtype : std::views::reverse(dtypes)) {
    Lists& group = groups.emplace_back();
    group.Reserve(lists.size());
    for (size_t i = 0; i < lists.size(); ++i) {
      if (lists.parameters[i].dtype() == dtype) group.AddFrom(lists, i);
    }
  }
  return groups;
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
  for (const Lists& group : Group(lists)) {
    ForeachAddNumberInto(group.steps, 1);
    FusedAdamW(group.parameters, group.gradients, group.averages,
               group.averages_of_squares, group.steps);
  }
}

// _multi_tensor_adam
void StepForeach(Builder& builder, const Lists& lists) {
  std::vector<Tensor> roots;  // of a group, until the next one has its own
  for (const Lists& group : Group(lists)) {
    ForeachAddInto(group.steps, LiftFresh(builder, {}, DType::kFloat32));
    ForeachMulNumberInto(group.parameters, kDecay);
    ForeachLerpInto(group.averages, group.gradients, 1 - kBeta1);
    ForeachMulNumberInto(group.averages_of_squares, kBeta2);
    ForeachAddcmulInto(group.averages_of_squares, group.gradients,
                       group.gradients, 1 - kBeta2);
    // Once for each of the two corrections.
    for (const Tensor& step : group.steps) LocalScalar(step);
    for (const Tensor& step : group.steps) LocalScalar(step);
    std::vector<Tensor> next = ForeachSqrt(group.averages_of_squares);
    roots = std::move(next);
    ForeachDivNumbersInto(roots);
    ForeachAddNumberInto(roots, kEpsilon);
    ForeachAddcdivInto(group.parameters, group.averages, roots);
  }
}

// _single_tensor_adam
void StepLoop(const Lists& lists, int step) {
  const Corrections corrections = CorrectionsAt(step);
  Tensor denominator;  // lives until the next parameter has its own
  for (size_t i = 0; i < lists.size(); ++i) {
    const Tensor& gradient = lists.gradients[i];
    AddScalarInto(lists.steps[i], 1);
    MulScalarInto(lists.parameters[i], kDecay);
    LerpInto(lists.averages[i], gradient, 1 - kBeta1);
    MulScalarInto(lists.averages_of_squares[i], kBeta2);
    AddcmulInto(lists.averages_of_squares[i], gradient, gradient, 1 - kBeta2);
    LocalScalar(lists.steps[i]);
    denominator = AddScalarInto(
        DivScalar(Sqrt(lists.averages_of_squares[i]), corrections.second_root),
        kEpsilon);
    AddcdivInto(lists.parameters[i], lists.averages[i], denominator,
                -kRate / corrections.first);
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
  OptimizerResult result;
  result.states.reserve(3 * lists.size());
  for (size_t i = 0; i < lists.size(); ++i) {
    const ValueId leaf = gradients[i].leaf;
    result.states.push_back(
        {leaf, "step", std::move(lists.steps[i]), !is_fused});
    result.states.push_back({leaf, "exp_avg", std::move(lists.averages[i])});
    result.states.push_back(
        {leaf, "exp_avg_sq", std::move(lists.averages_of_squares[i])});
  }
  return result;
}

}  // namespace foretell
