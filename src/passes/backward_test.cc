#include "passes/backward.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/in_place.h"
#include "graph/ops/reduction.h"
#include "graph/ops/views.h"
#include "graph/view_write.h"

namespace foretell {
namespace {

std::vector<std::string_view> NamesOf(const Graph& graph, Phase phase) {
  std::vector<std::string_view> out;
  uint32_t first = 0;
  for (const PhaseStart& start : graph.phases) {
    if (start.phase == phase) first = start.first_step;
  }
  for (size_t at = first; at < graph.steps.size(); ++at) {
    const Step step = graph.steps[at];
    if (step.kind == Step::Kind::kDrop) continue;
    out.push_back(graph.operations[step.index].row->name);
  }
  return out;
}

// The sum's gradient reaches both leaves as one tensor: the first that takes
// it must copy it, since somebody else holds it, too; the last takes it over.
TEST(Backward, CopiesAGradientThatTwoLeavesShare) {
  Graph graph;
  Builder builder(graph, DType::kFloat32);
  const ParameterId a = builder.AddParameter(builder.root(), "a", {2, 3});
  const ParameterId b = builder.AddParameter(builder.root(), "b", {2, 3});
  Tensor loss = SumAll(PowScalar(Add(builder.Read(a), builder.Read(b)), 2));
  builder.StartPhase(Phase::kBackward);
  const std::vector<LeafGradient> gradients = Backward(loss);
  EXPECT_EQ(builder.failure(), "");
  ASSERT_EQ(gradients.size(), 2u);
  EXPECT_NE(builder.ValueOf(gradients[0].gradient.id()).storage,
            builder.ValueOf(gradients[1].gradient.id()).storage);
  const std::vector<std::string_view> all = NamesOf(graph, Phase::kBackward);
  ASSERT_GE(all.size(), 3u);
  const std::vector<std::string_view> expected = {
      "aten.new_empty_strided.default", "aten.copy_.default",
      "aten.detach.default"};
  EXPECT_EQ(std::vector(all.end() - 3, all.end()), expected);
}

TEST(Backward, TurnsRunningSumsRound) {
  Graph graph;
  Builder builder(graph, DType::kFloat32);
  const ParameterId a = builder.AddParameter(builder.root(), "a", {2, 3});
  Tensor loss = SumAll(Cumsum(builder.Read(a), -1));
  builder.StartPhase(Phase::kBackward);
  Backward(loss);
  EXPECT_EQ(builder.failure(), "");
  const std::vector<std::string_view> expected = {
      "aten.ones_like.default", "aten.expand.default", "aten.flip.default",
      "aten.cumsum.default",    "aten.flip.default",   "aten.detach.default"};
  EXPECT_EQ(NamesOf(graph, Phase::kBackward), expected);
}

// A second micro-batch adds to what the first has left, in place.
TEST(Backward, AddsToGradientsThatAreHeld) {
  Graph graph;
  Builder builder(graph, DType::kFloat32);
  const ParameterId a = builder.AddParameter(builder.root(), "a", {4});
  std::vector<LeafGradient> held =
      Backward(SumAll(Mul(builder.Read(a), builder.Read(a))));
  const Tensor again = SumAll(Mul(builder.Read(a), builder.Read(a)));
  builder.StartPhase(Phase::kBackward);
  held = Backward(again, std::move(held));
  ASSERT_EQ(held.size(), 1u);
  EXPECT_EQ(NamesOf(graph, Phase::kBackward).back(), "aten.add_.Tensor");
}

TEST(Backward, NamesARowWithoutARule) {
  Graph graph;
  Builder builder(graph, DType::kFloat32);
  const ParameterId a = builder.AddParameter(builder.root(), "a", {2, 3});
  const Tensor loss = Max(builder.Read(a));
  Backward(loss);
  EXPECT_EQ(builder.failure(), "no backward is known for aten.max.default");
}

// y[:, :2] = a; y[:, 2:] = b: the later write leaves the rest of the gradient,
// and zeros for what it wrote over; the first is of a tensor that had none.
TEST(Backward, DividesTheGradientOfWhatIsWrittenThroughViews) {
  Graph graph;
  Builder builder(graph, DType::kFloat32);
  const ParameterId a = builder.AddParameter(builder.root(), "a", {2, 2});
  const ParameterId b = builder.AddParameter(builder.root(), "b", {2, 1});
  Tensor whole = Zeros(builder, {2, 3}, DType::kFloat32);
  const auto write = [&](Tensor view, ParameterId from) {
    ViewWrite written =
        WriteThrough(whole, std::move(view), [&](Tensor target) {
          return CopyInto(std::move(target), builder.Read(from));
        });
    whole = std::move(written.base);
  };
  write(Slice(whole, 1, 0, 2), a);
  write(Slice(whole, 1, 2, 3), b);
  const std::vector<std::string_view> forward = {
      "aten.zeros.default", "aten.slice.Tensor",  "aten.copy_.default",
      "aten.slice.Tensor",  // what the view is from now on
      "aten.slice.Tensor",  "aten.copy_.default", "aten.slice.Tensor"};
  EXPECT_EQ(NamesOf(graph, Phase::kForward), forward);
  Tensor loss = SumAll(whole);
  builder.StartPhase(Phase::kBackward);
  const std::vector<LeafGradient> gradients = Backward(loss);
  EXPECT_EQ(builder.failure(), "");
  const std::vector<std::string_view> expected = {
      "aten.ones_like.default",
      "aten.expand.default",
      "aten.new_empty_strided.default",
      "aten.copy_.default",
      "aten.slice.Tensor",
      "aten.clone.default",
      "aten.zeros_like.default",
      "aten.copy_.default",
      "aten.detach.default",  // what b accumulates
      "aten.new_empty_strided.default",
      "aten.copy_.default",
      "aten.slice.Tensor",
      "aten.clone.default",
      "aten.detach.default"};
  EXPECT_EQ(NamesOf(graph, Phase::kBackward), expected);
  ASSERT_EQ(gradients.size(), 2u);
}

}  // namespace
}  // namespace foretell
