#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/family_test_config.h"

namespace foretell {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const TestKeys kTiny = {{"model_type", "t5"},
                        {"d_model", "8"},
                        {"num_heads", "2"},
                        {"d_kv", "4"},
                        {"num_layers", "2"},
                        {"d_ff", "12"},
                        {"vocab_size", "32"},
                        {"pad_token_id", "0"},
                        {"decoder_start_token_id", "0"}};

size_t LayersOf(const BuildResult& result, std::string_view stack) {
  for (const LayerStack& one : result.built->model->stacks) {
    if (one.name == stack) return static_cast<size_t>(one.layers);
  }
  return 0;
}

TEST(T5Test, TiesAlwaysAsItLoads) {
  const std::vector<std::string> all = {
      "encoder.embed_tokens.weight -> shared.weight",
      "decoder.embed_tokens.weight -> shared.weight",
      "lm_head.weight -> shared.weight"};
  EXPECT_EQ(TiesOf(*BuildFrom(kTiny).built->graph), all);
  const TestKeys untied = With(kTiny, "tie_word_embeddings", "false");
  EXPECT_EQ(TiesOf(*BuildFrom(untied).built->graph), all);
  // Only a change after loading unties.
  ModelConfig loaded = TestConfig(untied);
  loaded.is_loaded = true;
  EXPECT_THAT(TiesOf(*BuildModel(loaded, {}).built->graph), IsEmpty());
}

TEST(T5Test, DecoderTakesItsDepthFromTheClassesOwnName) {
  const BuildResult plain = BuildFrom(kTiny);
  EXPECT_EQ(LayersOf(plain, "encoder"), 2u);
  EXPECT_EQ(LayersOf(plain, "decoder"), 2u);
  const BuildResult alias = BuildFrom(With(kTiny, "num_hidden_layers", "1"));
  EXPECT_EQ(LayersOf(alias, "encoder"), 1u);
  EXPECT_EQ(LayersOf(alias, "decoder"), 2u);
  const BuildResult both = BuildFrom(With(kTiny, "num_decoder_layers", "3"));
  EXPECT_EQ(LayersOf(both, "encoder"), 2u);
  EXPECT_EQ(LayersOf(both, "decoder"), 3u);
}

TEST(T5Test, PositionBiasIsOfTheFirstLayerOnly) {
  const BuildResult result = BuildFrom(kTiny);
  const Graph& graph = *result.built->graph;
  const std::string bias = ".relative_attention_bias.weight";
  EXPECT_TRUE(
      HasParameter(graph, "encoder.block.0.layer.0.SelfAttention" + bias));
  EXPECT_FALSE(
      HasParameter(graph, "encoder.block.1.layer.0.SelfAttention" + bias));
  EXPECT_TRUE(
      HasParameter(graph, "decoder.block.0.layer.0.SelfAttention" + bias));
  EXPECT_FALSE(
      HasParameter(graph, "decoder.block.0.layer.1.EncDecAttention" + bias));
}

TEST(T5Test, FeedForwardFollowsItsForm) {
  struct Case {
    std::string_view form;
    std::string_view weight;  // empty where refused
  };
  const Case cases[] = {
      {"relu", "wi"}, {"gated-gelu", "wi_1"}, {"gated-silu", "wi_0"},
      {"gated", ""},  {"gated-gelu-new", ""}, {"swish-gelu", ""},
      {"", ""}};
  for (const Case& one : cases) {
    const BuildResult result =
        BuildFrom(With(kTiny, "feed_forward_proj", one.form));
    EXPECT_EQ(IsRefused(result), one.weight.empty()) << one.form;
    if (one.weight.empty()) continue;
    EXPECT_TRUE(HasParameter(*result.built->graph,
                             "encoder.block.1.layer.1.DenseReluDense." +
                                 std::string(one.weight) + ".weight"))
        << one.form;
  }
}

TEST(T5Test, StatesAndContext) {
  using Kind = LayerState::Kind;
  const LayerState full = {Kind::kFull, 2, 4, 4, 0};
  const LayerState cross = {Kind::kCross, 2, 4, 4, 0};
  const BuildResult result = BuildFrom(kTiny);
  const Model& model = *result.built->model;
  EXPECT_THAT(model.states, ElementsAre(LayerState(), LayerState(), full, cross,
                                        full, cross));
  EXPECT_EQ(model.context_length.tokens, std::nullopt);
  const BuildResult alone =
      BuildFrom(With(kTiny, "is_decoder", "true"), "T5EncoderModel");
  EXPECT_THAT(alone.built->model->states,
              ElementsAre(full, cross, full, cross));
}

TEST(T5Test, OldNameOfTheClass) {
  ModelConfig config = TestConfig(kTiny);
  config.root.Set(
      "architectures",
      ConfigValue::Array({ConfigValue::String("T5WithLMHeadModel")}));
  EXPECT_EQ(BuildModel(config, {}).built->class_name,
            "T5ForConditionalGeneration");
}

TEST(T5Test, HostileSizesNeverCrash) {
  for (const std::string_view key :
       {"vocab_size", "d_model", "d_kv", "d_ff", "num_layers", "num_heads",
        "num_decoder_layers", "relative_attention_num_buckets",
        "relative_attention_max_distance", "num_labels"}) {
    for (const std::string_view value :
         {"0", "-1", "1", "3", "2147483647", "1099511627776", "text", "null"}) {
      for (const std::string_view name :
           {"T5ForConditionalGeneration", "T5ForTokenClassification",
            "T5ForQuestionAnswering"}) {
        for (const std::string_view kind : {"eager", "sdpa"}) {
          BuildResult result = BuildFrom(With(kTiny, key, value), name);
          if (result.built) ForwardFailure(*result.built, kind);
        }
      }
    }
  }
}

TEST(T5Test, ForwardRunsForEveryClassThatNeedsNoData) {
  for (const std::string_view name :
       {"T5Model", "T5ForConditionalGeneration", "T5EncoderModel",
        "T5ForTokenClassification", "T5ForQuestionAnswering"}) {
    for (const std::string_view kind : {"eager", "sdpa"}) {
      BuildResult result = BuildFrom(kTiny, name);
      ASSERT_TRUE(result.built) << name;
      EXPECT_EQ(ForwardFailure(*result.built, kind), "") << name;
    }
  }
  BuildResult result = BuildFrom(kTiny, "T5ForSequenceClassification");
  EXPECT_NE(ForwardFailure(*result.built, "eager"), "");
}

}  // namespace
}  // namespace foretell
