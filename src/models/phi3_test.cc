#include <gtest/gtest.h>

#include <string>

#include "models/family_test_config.h"

namespace foretell {
namespace {

const TestKeys kTiny = {
    {"model_type", "phi3"},       {"vocab_size", "32"},
    {"pad_token_id", "0"},        {"hidden_size", "32"},
    {"intermediate_size", "24"},  {"num_hidden_layers", "2"},
    {"num_attention_heads", "4"}, {"num_key_value_heads", "2"}};

int64_t Frequencies(const BuildResult& result) {
  const Graph& graph = *result.built->graph;
  return graph[graph.buffers.front().value].shape[0];
}

TEST(Phi3, TurnsAPartOfEachHead) {
  EXPECT_EQ(Frequencies(BuildFrom(kTiny)), 4);
  EXPECT_EQ(Frequencies(BuildFrom(With(kTiny, "partial_rotary_factor", "0.5"))),
            2);
  EXPECT_EQ(Frequencies(BuildFrom(With(kTiny, "partial_rotary_factor", "0.4"))),
            2);
}

TEST(Phi3, AWindowIsEveryLayersOrNone) {
  const BuildResult full = BuildFrom(kTiny);
  for (const LayerState& state : full.built->model->states) {
    EXPECT_EQ(state.kind, LayerState::Kind::kFull);
  }
  const BuildResult slides = BuildFrom(With(kTiny, "sliding_window", "3"));
  for (const LayerState& state : slides.built->model->states) {
    EXPECT_EQ(state.kind, LayerState::Kind::kSliding);
    EXPECT_EQ(state.window, 3);
  }
}

TEST(Phi3, RunsWithEachKindOfAttention) {
  for (const std::string_view kind : {"eager", "sdpa"}) {
    for (const std::string_view part : {"1.0", "0.5"}) {
      BuildResult result = BuildFrom(With(
          With(kTiny, "partial_rotary_factor", part), "resid_pdrop", "0.1"));
      ASSERT_FALSE(IsRefused(result));
      EXPECT_EQ(ForwardFailure(*result.built, kind), "");
    }
  }
}

TEST(Phi3, AnAbsentPaddingTokenIsARowOfTheTable) {
  TestKeys keys = kTiny;
  std::erase_if(keys,
                [](const auto& key) { return key.first == "pad_token_id"; });
  EXPECT_TRUE(IsRefused(BuildFrom(keys)));
  EXPECT_FALSE(IsRefused(BuildFrom(With(keys, "vocab_size", "32001"))));
}

}  // namespace
}  // namespace foretell
