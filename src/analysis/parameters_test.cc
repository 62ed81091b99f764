#include "analysis/parameters.h"

#include <gtest/gtest.h>

#include "analysis/cache.h"
#include "graph/builder.h"

namespace foretell {
namespace {

TEST(FoldIndices, WritesRunsProductsAndTuples) {
  EXPECT_EQ(FoldIndices({}), "");
  EXPECT_EQ(FoldIndices({{}, {}}), "");
  EXPECT_EQ(FoldIndices({{0}, {1}, {2}, {7}}), "0-2,7");
  EXPECT_EQ(FoldIndices({{0, 0}, {0, 1}, {1, 0}, {1, 1}}), "0-1 x 0-1");
  EXPECT_EQ(FoldIndices({{0, 0}, {1, 1}}), "[[0, 0], [1, 1]]");
}

TEST(AnalyzeParameters, CountsAStorageOnceUnderItsFirstName) {
  Graph graph;
  Builder builder(graph, DType::kBFloat16);
  const RegionId embed =
      builder.AddRegion(builder.root(), "embed", RegionKind::kEmbedding);
  const RegionId head =
      builder.AddRegion(builder.root(), "head", RegionKind::kHead);
  const ParameterId table = builder.AddParameter(embed, "weight", {10, 4});
  builder.Tie(builder.AddParameter(head, "weight", {10, 4}), table);
  const ParameterAnalysis analysis = AnalyzeParameters(graph);
  EXPECT_EQ(analysis.total.exact(), 40);
  ASSERT_EQ(analysis.ties.size(), 1u);
  EXPECT_EQ(analysis.ties[0].name, "head.weight");
  EXPECT_EQ(analysis.ties[0].target, "embed.weight");
  // A table that is an output head too is no mere look-up table.
  EXPECT_EQ(analysis.embedding.exact(), 0);
  EXPECT_EQ(WeightBytes(analysis, DType::kFloat32).exact(), 160);
}

TEST(AnalyzeParameters, AModulesOwnParametersComeBeforeItsChildrens) {
  Graph graph;
  Builder builder(graph, DType::kFloat32);
  const RegionId child =
      builder.AddRegion(builder.root(), "child", RegionKind::kOther);
  builder.AddParameter(child, "weight", {2});
  builder.AddParameter(builder.root(), "bias", {3});
  const ParameterAnalysis analysis = AnalyzeParameters(graph);
  ASSERT_EQ(analysis.tensors.size(), 2u);
  EXPECT_EQ(analysis.tensors[0].name, "bias");
  EXPECT_EQ(analysis.tensors[1].name, "child.weight");
}

TEST(AnalyzeParameters, ExpertsCountByTheirShareOfATokensWork) {
  Graph graph;
  Builder builder(graph, DType::kFloat32);
  const RegionId experts =
      builder.AddRegion(builder.root(), "experts", RegionKind::kExperts);
  const ParameterId weight = builder.AddParameter(experts, "up", {8, 10, 10});
  builder.MarkExperts(weight, 8, 2);
  builder.AddParameter(builder.root(), "bias", {5});
  const ParameterAnalysis analysis = AnalyzeParameters(graph);
  EXPECT_EQ(analysis.total.exact(), 805);
  EXPECT_EQ(analysis.active.exact(), 205);
  EXPECT_EQ(analysis.expert.exact(), 800);
}

TEST(AnalyzeParameters, ACountPastTheLargestIntegerIsUnknown) {
  Graph graph;
  Builder builder(graph, DType::kFloat32);
  const int64_t large = int64_t{1} << 40;
  builder.AddParameter(builder.root(), "weight", {large, large});
  builder.AddParameter(builder.root(), "bias", {7});
  const ParameterAnalysis analysis = AnalyzeParameters(graph);
  EXPECT_TRUE(analysis.total.is_unknown());
  EXPECT_EQ(analysis.total.any().value(), 7);  // at least
}

LayerState State(LayerState::Kind kind, int64_t window) {
  return {kind, 8, 128, 128, window};
}

TEST(AnalyzeCache, SlidingLayersStopAddingPastTheirWindow) {
  const std::vector<LayerState> states = {
      State(LayerState::Kind::kFull, 0), State(LayerState::Kind::kSliding, 512),
      State(LayerState::Kind::kSliding, 512),
      State(LayerState::Kind::kNone, 0)};
  const CacheAnalysis cache = AnalyzeCache(states, DType::kBFloat16);
  constexpr int64_t kLayer = 8 * (128 + 128) * 2;
  EXPECT_EQ(cache.per_token.exact(), 3 * kLayer);
  EXPECT_EQ(cache.per_token_past_windows.exact(), kLayer);
  ASSERT_EQ(cache.groups.size(), 2u);
  EXPECT_EQ(cache.groups[1].layers, 2);
  EXPECT_EQ(cache.groups[1].at_most.exact(), 2 * kLayer * 512);
}

TEST(AnalyzeCache, CrossAttentionCountsPerInputToken) {
  const CacheAnalysis cache =
      AnalyzeCache({State(LayerState::Kind::kCross, 0)}, DType::kFloat32);
  EXPECT_EQ(cache.per_token.exact(), 0);
  EXPECT_EQ(cache.per_encoder_token.exact(), 8 * 256 * 4);
}

TEST(AnalyzeCache, RecurrentStatesHaveOneSize) {
  LayerState state;
  state.kind = LayerState::Kind::kRecurrent;
  state.heads = 1536;
  state.key_dim = 16;
  state.value_dim = 1;
  state.conv_channels = 1536;
  state.conv_tokens = 4;
  const CacheAnalysis cache = AnalyzeCache(
      {state, state, State(LayerState::Kind::kFull, 0)}, DType::kBFloat16);
  constexpr int64_t kEach = 1536 * 16 * 4 + 1536 * 4 * 2;
  EXPECT_EQ(cache.recurrent.exact(), 2 * kEach);
  ASSERT_EQ(cache.groups.size(), 2u);
  EXPECT_EQ(cache.groups[0].at_most.exact(), 2 * kEach);
  EXPECT_EQ(cache.groups[0].per_token.exact(), 0);
  EXPECT_EQ(cache.per_token.exact(), 8 * 256 * 2);
}

}  // namespace
}  // namespace foretell
