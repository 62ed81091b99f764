#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/family_test_config.h"

namespace foretell {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const TestKeys kTiny = {
    {"model_type", "deberta-v2"},   {"hidden_size", "8"},
    {"num_attention_heads", "2"},   {"num_hidden_layers", "2"},
    {"intermediate_size", "12"},    {"max_position_embeddings", "16"},
    {"vocab_size", "32"},           {"relative_attention", "true"},
    {"position_buckets", "4"},      {"pos_att_type", "p2c|c2p"},
    {"norm_rel_ebd", "layer_norm"}, {"position_biased_input", "false"}};

// The rows of a table by its name; -1 where there is none.
int64_t RowsOf(const Graph& graph, std::string_view name) {
  for (const Parameter& parameter : graph.parameters) {
    if (graph.NameOf(parameter) == name) {
      return graph[parameter.value].shape[0];
    }
  }
  return -1;
}

TEST(DebertaTest, HeadsFollowTheClass) {
  struct Case {
    std::string_view name;
    std::string_view has;
    std::string_view lacks;
  };
  const Case cases[] = {
      {"DebertaV2Model", "encoder.rel_embeddings.weight", "pooler.dense.bias"},
      {"DebertaV2ForMaskedLM", "cls.predictions.decoder.bias",
       "pooler.dense.bias"},
      {"DebertaV2ForSequenceClassification", "pooler.dense.bias",
       "deberta.pooler.dense.bias"},
      {"DebertaV2ForMultipleChoice", "classifier.bias", "qa_outputs.bias"},
      {"DebertaV2ForTokenClassification", "classifier.bias",
       "pooler.dense.bias"},
      {"DebertaV2ForQuestionAnswering", "qa_outputs.bias",
       "pooler.dense.bias"}};
  for (const Case& one : cases) {
    const BuildResult result = BuildFrom(kTiny, one.name);
    ASSERT_TRUE(result.built) << one.name;
    EXPECT_TRUE(HasParameter(*result.built->graph, one.has)) << one.name;
    EXPECT_FALSE(HasParameter(*result.built->graph, one.lacks)) << one.name;
  }
}

TEST(DebertaTest, OnlyTheLegacyHeadIsTied) {
  EXPECT_THAT(TiesOf(*BuildFrom(kTiny).built->graph),
              ElementsAre("cls.predictions.decoder.weight -> "
                          "deberta.embeddings.word_embeddings.weight",
                          "cls.predictions.decoder.bias -> "
                          "cls.predictions.bias"));
  const BuildResult newer = BuildFrom(With(kTiny, "legacy", "false"));
  EXPECT_THAT(TiesOf(*newer.built->graph), IsEmpty());
  EXPECT_FALSE(HasParameter(*newer.built->graph,
                            "lm_predictions.lm_head.decoder.weight"));
}

TEST(DebertaTest, DistancesDecideAboutProjectionsAndTables) {
  constexpr std::string_view kTable = "encoder.rel_embeddings.weight";
  constexpr std::string_view kKeys =
      "encoder.layer.0.attention.self.pos_key_proj.weight";
  const auto build = [](const TestKeys& keys) {
    return BuildFrom(keys, "DebertaV2Model");
  };
  const BuildResult buckets = build(kTiny);
  EXPECT_EQ(RowsOf(*buckets.built->graph, kTable), 8);
  EXPECT_TRUE(HasParameter(*buckets.built->graph, kKeys));
  const BuildResult plain = build(With(kTiny, "position_buckets", "-1"));
  EXPECT_EQ(RowsOf(*plain.built->graph, kTable), 32);
  const BuildResult shared = build(With(kTiny, "share_att_key", "true"));
  EXPECT_FALSE(HasParameter(*shared.built->graph, kKeys));
  const BuildResult one_way = build(With(kTiny, "pos_att_type", " P2C "));
  EXPECT_FALSE(HasParameter(*one_way.built->graph, kKeys));
  const BuildResult none = build(With(kTiny, "relative_attention", "false"));
  EXPECT_EQ(RowsOf(*none.built->graph, kTable), -1);
  EXPECT_EQ(none.built->model->context_length.where, "no positions at all");
}

TEST(DebertaTest, RefusesWhatTheClassRefuses) {
  const TestKeys cases[] = {With(kTiny, "num_attention_heads", "3"),
                            With(kTiny, "pad_token_id", "32"),
                            With(kTiny, "vocab_size", "0"),
                            With(kTiny, "embedding_size", "null"),
                            With(kTiny, "position_buckets", "null"),
                            With(kTiny, "norm_rel_ebd", "null"),
                            With(kTiny, "pos_att_type", "1"),
                            With(kTiny, "layer_norm_eps", "1"),
                            With(kTiny, "hidden_act", "golu")};
  for (const TestKeys& keys : cases) {
    EXPECT_TRUE(IsRefused(BuildFrom(keys))) << keys.back().first;
  }
  const TestKeys window = With(kTiny, "conv_kernel_size", "3");
  EXPECT_FALSE(IsRefused(BuildFrom(window)));
  EXPECT_TRUE(IsRefused(BuildFrom(With(window, "conv_groups", "3"))));
}

TEST(DebertaTest, HostileSizesNeverCrash) {
  for (const std::string_view key :
       {"vocab_size", "max_position_embeddings", "hidden_size",
        "num_attention_heads", "num_hidden_layers", "intermediate_size",
        "type_vocab_size", "position_buckets", "max_relative_positions",
        "embedding_size", "attention_head_size", "conv_kernel_size",
        "pooler_hidden_size", "num_labels"}) {
    for (const std::string_view value :
         {"0", "-1", "1", "3", "2147483647", "1099511627776", "text", "null"}) {
      for (const std::string_view name :
           {"DebertaV2ForMaskedLM", "DebertaV2ForSequenceClassification",
            "DebertaV2ForMultipleChoice", "DebertaV2ForQuestionAnswering"}) {
        BuildResult result = BuildFrom(With(kTiny, key, value), name);
        if (result.built) ForwardFailure(*result.built, "eager");
      }
    }
  }
}

TEST(DebertaTest, ForwardRunsForEveryClassThatTakesTokens) {
  for (const std::string_view name :
       {"DebertaV2Model", "DebertaV2ForMaskedLM",
        "DebertaV2ForTokenClassification", "DebertaV2ForQuestionAnswering"}) {
    for (const std::string_view window : {"0", "3"}) {
      BuildResult result =
          BuildFrom(With(kTiny, "conv_kernel_size", window), name);
      ASSERT_TRUE(result.built) << name;
      EXPECT_EQ(ForwardFailure(*result.built, "eager"), "") << name;
    }
  }
  // A window of an even length gives one token less than it takes.
  BuildResult even = BuildFrom(With(kTiny, "conv_kernel_size", "4"));
  EXPECT_NE(ForwardFailure(*even.built, "eager"), "");
}

}  // namespace
}  // namespace foretell
