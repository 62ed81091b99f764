// Names of what each optimizer executes, bytes of its states, and the most
// that its temporaries take, by hand.
#include "passes/optimizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "graph/ops/creation.h"

namespace foretell {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Given {
  Shape shape;
  DType dtype = DType::kBFloat16;
};

// A step over parameters whose gradients live.
class Case {
 public:
  Case(OptimizerKind kind, bool first_step, const std::vector<Given>& given)
      : builder_(graph_, DType::kBFloat16) {
    for (const Given& one : given) {
      const ParameterId parameter =
          builder_.AddParameter(builder_.root(), "weight", one.shape);
      const ValueId leaf = graph_[parameter].value;
      graph_.values[leaf.index].dtype = one.dtype;
      gradients_.push_back({leaf, Zeros(builder_, one.shape, one.dtype)});
    }
    first_operation_ = graph_.operations.size();
    first_step_ = graph_.steps.size();
    first_storage_ = graph_.storages.size();
    builder_.StartPhase(Phase::kOptimizer);
    result_ = Optimize(builder_, {kind, first_step}, gradients_);
  }

  std::vector<std::string_view> Names() const {
    std::vector<std::string_view> names;
    for (size_t i = first_operation_; i < graph_.operations.size(); ++i) {
      names.push_back(graph_.operations[i].row->name);
    }
    return names;
  }

  int64_t StateBytes() const {
    int64_t sum = 0;
    for (const OptimizerState& state : result_.states) {
      sum += BytesOf(state.tensor);
    }
    return sum;
  }

  std::vector<std::string_view> StateNames() const {
    std::vector<std::string_view> names;
    for (const OptimizerState& state : result_.states) {
      names.push_back(state.name);
    }
    return names;
  }

  // The most bytes that live beside parameters, gradients and the states that
  // remain, after any operation of the step.
  int64_t PeakOfTemporaries() const {
    std::map<uint32_t, int> names;  // of storages that the step makes
    std::vector<bool> remains(graph_.storages.size());
    for (const OptimizerState& state : result_.states) {
      remains[graph_[state.tensor.id()].storage.index] = true;
    }
    int64_t peak = 0;
    for (size_t i = first_step_; i < graph_.steps.size(); ++i) {
      const Step step = graph_.steps[i];
      if (step.kind == Step::Kind::kDrop) {
        --names[graph_.values[step.index].storage.index];
        continue;
      }
      const Operation& operation = graph_.operations[step.index];
      for (const ValueId id : graph_.OutputsOf(operation)) {
        ++names[graph_[id].storage.index];
      }
      int64_t live = 0;
      for (const auto& [storage, count] : names) {
        const Storage& of = graph_.storages[storage];
        const bool is_new = storage >= first_storage_;
        if (count > 0 && is_new && !remains[storage] &&
            of.kind == StorageKind::kActivation) {
          live += of.bytes;
        }
      }
      peak = std::max(peak, live);
    }
    return peak;
  }

  const Graph& graph() const { return graph_; }
  const OptimizerResult& result() const { return result_; }
  bool gradients_left() const { return !gradients_.empty(); }
  const Builder& builder() const { return builder_; }

 private:
  int64_t BytesOf(const Tensor& tensor) const {
    return graph_.storages[graph_[tensor.id()].storage.index].bytes;
  }

  Graph graph_;
  Builder builder_;
  std::vector<LeafGradient> gradients_;
  OptimizerResult result_;
  size_t first_operation_ = 0;
  size_t first_step_ = 0;
  size_t first_storage_ = 0;
};

const std::vector<Given>& Two() {
  static const auto* const given =
      new std::vector<Given>{{{6, 4}}, {{10}}};  // 48 and 20 bytes
  return *given;
}

TEST(Optimizer, Names) {
  for (const std::string_view name :
       {"none", "sgd", "adamw_fused", "adamw_foreach", "adamw_loop",
        "adafactor"}) {
    const auto kind = ParseOptimizerKind(name);
    ASSERT_TRUE(kind) << name;
    EXPECT_EQ(NameOf(*kind), name);
  }
  EXPECT_FALSE(ParseOptimizerKind("adamw"));
}

TEST(Optimizer, NoneLeavesTheGradients) {
  const Case none(OptimizerKind::kNone, true, Two());
  EXPECT_THAT(none.Names(), IsEmpty());
  EXPECT_TRUE(none.gradients_left());
}

TEST(Optimizer, OthersLetTheGradientsGo) {
  for (const auto kind :
       {OptimizerKind::kSgd, OptimizerKind::kAdamwFused,
        OptimizerKind::kAdamwForeach, OptimizerKind::kAdamwLoop,
        OptimizerKind::kAdafactor}) {
    for (const bool first : {false, true}) {
      const Case one(kind, first, Two());
      EXPECT_EQ(one.builder().failure(), "");
      EXPECT_FALSE(one.gradients_left());
      EXPECT_EQ(one.graph().steps.back().kind, Step::Kind::kDrop);
      EXPECT_TRUE(one.builder().execution().gradients);
    }
  }
}

TEST(Optimizer, NoParameterNoOperation) {
  for (const auto kind :
       {OptimizerKind::kAdamwFused, OptimizerKind::kAdamwForeach}) {
    EXPECT_THAT(Case(kind, false, {}).Names(), IsEmpty());
  }
}

TEST(Optimizer, Sgd) {
  const Case sgd(OptimizerKind::kSgd, true, Two());
  EXPECT_THAT(sgd.Names(), ElementsAre("aten.add_.Tensor", "aten.add_.Tensor"));
  EXPECT_EQ(sgd.StateBytes(), 0);
  EXPECT_EQ(sgd.PeakOfTemporaries(), 0);
}

TEST(Optimizer, AdamwFused) {
  const Case later(OptimizerKind::kAdamwFused, false, Two());
  EXPECT_THAT(later.Names(), ElementsAre("aten._foreach_add_.Scalar",
                                         "aten._fused_adamw_.default"));
  EXPECT_THAT(later.StateNames(), ElementsAre("step", "exp_avg", "exp_avg_sq",
                                              "step", "exp_avg", "exp_avg_sq"));
  EXPECT_EQ(later.StateBytes(), 2 * (48 + 20) + 2 * 4);
  EXPECT_EQ(later.PeakOfTemporaries(), 0);
  EXPECT_FALSE(later.result().states[0].on_host);
  const Case first(OptimizerKind::kAdamwFused, true, {{{6, 4}}});
  EXPECT_THAT(
      first.Names(),
      ElementsAre("aten.zeros.default", "aten.zeros_like.default",
                  "aten.zeros_like.default", "aten._foreach_add_.Scalar",
                  "aten._fused_adamw_.default"));
  EXPECT_EQ(first.StateBytes(), 2 * 48 + 4);
  EXPECT_EQ(first.PeakOfTemporaries(), 0);
}

// Adapters in float32 beside bfloat16: the group of the dtype that comes
// first is the last.
TEST(Optimizer, GroupsByDtype) {
  const Case mixed(OptimizerKind::kAdamwFused, false,
                   {{{2}}, {{3}, DType::kFloat32}, {{5}}});
  const Graph& graph = mixed.graph();
  std::vector<std::string> shapes;
  for (const Operation& operation : graph.operations) {
    if (operation.row->name != "aten._fused_adamw_.default") continue;
    const ValueId first = graph.InputsOf(operation)[0];
    shapes.push_back(graph[first].shape.ToString() + " of " +
                     std::to_string(operation.input_count / 5));
  }
  EXPECT_THAT(shapes, ElementsAre("[3] of 1", "[2] of 2"));
}

TEST(Optimizer, AdamwForeach) {
  const Case later(OptimizerKind::kAdamwForeach, false, Two());
  EXPECT_THAT(
      later.Names(),
      ElementsAre("aten.lift_fresh.default", "aten._foreach_add_.Tensor",
                  "aten._foreach_mul_.Scalar", "aten._foreach_lerp_.Scalar",
                  "aten._foreach_mul_.Scalar", "aten._foreach_addcmul_.Scalar",
                  "aten._local_scalar_dense.default",
                  "aten._local_scalar_dense.default",
                  "aten._local_scalar_dense.default",
                  "aten._local_scalar_dense.default",
                  "aten._foreach_sqrt.default", "aten._foreach_div_.ScalarList",
                  "aten._foreach_add_.Scalar",
                  "aten._foreach_addcdiv_.ScalarList"));
  EXPECT_EQ(later.StateBytes(), 2 * (48 + 20) + 2 * 4);
  EXPECT_TRUE(later.result().states[0].on_host);
  // The roots of all parameters at once.
  EXPECT_EQ(later.PeakOfTemporaries(), 48 + 20);
  // Those of a group live until the next group has its own.
  const Case mixed(OptimizerKind::kAdamwForeach, false,
                   {{{2}}, {{3}, DType::kFloat32}});
  EXPECT_EQ(mixed.PeakOfTemporaries(), 4 + 12);
}

TEST(Optimizer, AdamwLoop) {
  const Case later(OptimizerKind::kAdamwLoop, false, {{{6, 4}}});
  EXPECT_THAT(
      later.Names(),
      ElementsAre("aten.add_.Tensor", "aten.mul_.Tensor", "aten.lerp_.Scalar",
                  "aten.mul_.Tensor", "aten.addcmul_.default",
                  "aten._local_scalar_dense.default", "aten.sqrt.default",
                  "aten.div.Tensor", "aten.add_.Tensor",
                  "aten.addcdiv_.default"));
  EXPECT_EQ(later.StateBytes(), 2 * 48 + 4);
  EXPECT_EQ(later.PeakOfTemporaries(), 2 * 48);
  // The first parameter's denominator, the second's root and its quotient.
  const Case both(OptimizerKind::kAdamwLoop, false, Two());
  EXPECT_EQ(both.PeakOfTemporaries(), std::max(2 * 48, 48 + 2 * 20));
}

TEST(Optimizer, AdafactorOfAMatrix) {
  const Case later(OptimizerKind::kAdafactor, false, {{{6, 4}}});
  EXPECT_THAT(later.StateNames(),
              ElementsAre("exp_avg_sq_row", "exp_avg_sq_col", "RMS"));
  EXPECT_EQ(later.StateBytes(), 6 * 4 + 4 * 4 + 4);
  EXPECT_EQ(later.Names().size(), 29U);
  const Case first(OptimizerKind::kAdafactor, true, {{{6, 4}}});
  EXPECT_EQ(first.StateBytes(), later.StateBytes());
  EXPECT_EQ(first.Names().size(), 33U);
  // float32 copies of gradient and parameter, the gradient's square, and what
  // replaces it with the row and the column that it is made of.
  EXPECT_EQ(later.PeakOfTemporaries(), 4 * 96 + 6 * 4 + 4 * 4);
}

TEST(Optimizer, AdafactorOfAVector) {
  const Case later(OptimizerKind::kAdafactor, false, {{{10}, DType::kFloat32}});
  EXPECT_THAT(later.StateNames(), ElementsAre("exp_avg_sq", "RMS"));
  EXPECT_EQ(later.StateBytes(), 10 * 4 + 4);
  // The square of the gradient, the root and what becomes of it.
  EXPECT_EQ(later.PeakOfTemporaries(), 2 * 40);
}

// What is measured anew in each step dies once its successor stands.
TEST(Optimizer, AdafactorLetsTheOldMeasureGo) {
  const Case later(OptimizerKind::kAdafactor, false, {{{6, 4}}});
  const Graph& graph = later.graph();
  int gone = 0;
  for (const Step& step : graph.steps) {
    if (step.kind != Step::Kind::kDrop) continue;
    const Value& value = graph.values[step.index];
    const Storage& storage = graph.storages[value.storage.index];
    gone += storage.kind == StorageKind::kState && storage.bytes == 4;
  }
  EXPECT_EQ(gone, 1);
}

TEST(Optimizer, AdafactorsLastMeasureStaysWithItsHolder) {
  Graph graph;
  Builder builder(graph, DType::kFloat32);
  std::vector<LeafGradient> gradients;
  for (int i = 0; i < 2; ++i) {
    const ParameterId parameter =
        builder.AddParameter(builder.root(), "weight", {3});
    gradients.push_back(
        {graph[parameter].value, Zeros(builder, {3}, DType::kFloat32)});
  }
  const OptimizerResult result =
      Optimize(builder, {OptimizerKind::kAdafactor, false, true}, gradients);
  const Value& held = graph[result.held_by_caller.id()];
  EXPECT_EQ(graph.storages[held.storage.index].kind, StorageKind::kState);
  EXPECT_EQ(held.shape.rank(), 0);
}

}  // namespace
}  // namespace foretell
