// Activations that leave the card, on a step of two layers.
#include "passes/move_activations.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "graph/builder.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/reduction.h"
#include "passes/backward.h"

namespace foretell {
namespace {

constexpr int64_t kRows = 64;

// sum(exp(... exp(weight))): each result is kept for the backward.
class Moved : public testing::Test {
 protected:
  Moved() : builder_(graph_, DType::kFloat32) {
    const ParameterId weight =
        builder_.AddParameter(builder_.root(), "weight", {kRows, kRows});
    builder_.StartPhase(Phase::kForward);
    Tensor x = builder_.Read(weight);
    for (int i = 0; i < kLayers; ++i) x = Exp(std::move(x));
    Tensor loss = SumAll(std::move(x));
    builder_.StartPhase(Phase::kBackward);
    Backward(loss);
    kept_.resize(graph_.storages.size());
    for (const Saved& saved : graph_.saved) {
      kept_[graph_[saved.value].storage.index] = true;
    }
  }

  static constexpr int kLayers = 16;
  Graph graph_;
  Builder builder_;
  std::vector<bool> kept_;
};

TEST_F(Moved, TheHostHoldsWhatIsNotNear) {
  const MovedActivations moved = OffloadActivations(graph_, kept_);
  ASSERT_EQ(moved.beside.size(), graph_.operations.size());
  constexpr int64_t kBytes = kRows * kRows * 4;
  EXPECT_GT(moved.bytes, kBytes * (kLayers / 2));
  EXPECT_EQ(moved.bytes % kBytes, 0);
  const int64_t lowest =
      *std::min_element(moved.beside.begin(), moved.beside.end());
  EXPECT_GE(lowest, -moved.bytes);
  EXPECT_LT(lowest, 0);
  // All of it has come back in the end, and nothing has left at the start.
  EXPECT_EQ(moved.beside.front(), 0);
  EXPECT_EQ(moved.beside.back(), 0);
}

TEST_F(Moved, SmallTensorsStay) {
  for (Storage& storage : graph_.storages) storage.bytes = 1000;
  EXPECT_EQ(OffloadActivations(graph_, kept_).bytes, 0);
}

TEST_F(Moved, OnlySquaresOfTheLengthAreScores) {
  EXPECT_EQ(RecomputeScores(graph_, kept_, kRows + 1).bytes, 0);
}

}  // namespace
}  // namespace foretell
