#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/family_test_config.h"

namespace foretell {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const TestKeys kTiny = {
    {"model_type", "bert"},       {"hidden_size", "8"},
    {"num_attention_heads", "2"}, {"num_hidden_layers", "2"},
    {"intermediate_size", "12"},  {"max_position_embeddings", "16"},
    {"vocab_size", "32"}};

TEST(BertTest, PoolerAndHeadFollowTheClass) {
  struct Case {
    std::string_view name;
    std::string_view has;
    std::string_view lacks;
  };
  const Case cases[] = {
      {"BertModel", "pooler.dense.bias", "bert.pooler.dense.bias"},
      {"BertForMaskedLM", "cls.predictions.decoder.bias",
       "bert.pooler.dense.bias"},
      {"BertForPreTraining", "cls.seq_relationship.weight",
       "classifier.weight"},
      {"BertForNextSentencePrediction", "bert.pooler.dense.weight",
       "cls.predictions.bias"},
      {"BertForTokenClassification", "classifier.bias",
       "bert.pooler.dense.bias"},
      {"BertForQuestionAnswering", "qa_outputs.bias",
       "bert.pooler.dense.bias"}};
  for (const Case& one : cases) {
    const BuildResult result = BuildFrom(kTiny, one.name);
    ASSERT_TRUE(result.built) << one.name;
    EXPECT_TRUE(HasParameter(*result.built->graph, one.has)) << one.name;
    EXPECT_FALSE(HasParameter(*result.built->graph, one.lacks)) << one.name;
  }
}

TEST(BertTest, BothNamesOfTheDecoderAreTied) {
  EXPECT_THAT(TiesOf(*BuildFrom(kTiny).built->graph),
              ElementsAre("cls.predictions.decoder.weight -> "
                          "bert.embeddings.word_embeddings.weight",
                          "cls.predictions.decoder.bias -> "
                          "cls.predictions.bias"));
  const TestKeys untied = With(kTiny, "tie_word_embeddings", "false");
  EXPECT_THAT(TiesOf(*BuildFrom(untied).built->graph), IsEmpty());
}

TEST(BertTest, AnEncoderKeepsNothingAndADecoderAll) {
  const LayerState none;
  const BuildResult encoder = BuildFrom(kTiny, "BertModel");
  EXPECT_THAT(encoder.built->model->states, ElementsAre(none, none));
  EXPECT_EQ(encoder.built->model->context_length.tokens, 16);
  const LayerState full = {LayerState::Kind::kFull, 2, 4, 4, 0};
  const BuildResult decoder = BuildFrom(With(kTiny, "is_decoder", "true"));
  EXPECT_THAT(decoder.built->model->states, ElementsAre(full, full));
}

TEST(BertTest, RefusesWhatTheClassRefuses) {
  const TestKeys cases[] = {With(kTiny, "num_attention_heads", "3"),
                            With(kTiny, "add_cross_attention", "true"),
                            With(kTiny, "pad_token_id", "32"),
                            With(kTiny, "vocab_size", "0"),
                            With(kTiny, "hidden_dropout_prob", "-0.1"),
                            With(kTiny, "type_vocab_size", "two"),
                            With(kTiny, "hidden_act", "golu")};
  for (const TestKeys& keys : cases) {
    EXPECT_TRUE(IsRefused(BuildFrom(keys))) << keys.back().first;
  }
  // A width that no head fills is tolerated beside an embedding_size.
  TestKeys tolerated = With(kTiny, "num_attention_heads", "3");
  tolerated = With(tolerated, "embedding_size", "8");
  EXPECT_FALSE(IsRefused(BuildFrom(tolerated)));
}

TEST(BertTest, HostileSizesNeverCrash) {
  for (const std::string_view key :
       {"vocab_size", "max_position_embeddings", "hidden_size",
        "num_attention_heads", "num_hidden_layers", "intermediate_size",
        "type_vocab_size", "chunk_size_feed_forward", "num_labels"}) {
    for (const std::string_view value :
         {"0", "-1", "1", "3", "2147483647", "1099511627776", "text", "null"}) {
      for (const std::string_view name :
           {"BertForMaskedLM", "BertForTokenClassification",
            "BertForMultipleChoice", "BertForQuestionAnswering"}) {
        for (const std::string_view kind : {"eager", "sdpa"}) {
          BuildResult result = BuildFrom(With(kTiny, key, value), name);
          if (result.built) ForwardFailure(*result.built, kind);
        }
      }
    }
  }
}

TEST(BertTest, ForwardRunsForEveryClassThatTakesTokens) {
  for (const std::string_view name :
       {"BertModel", "BertForPreTraining", "BertLMHeadModel", "BertForMaskedLM",
        "BertForTokenClassification", "BertForQuestionAnswering"}) {
    for (const std::string_view kind : {"eager", "sdpa"}) {
      for (const std::string_view decoder : {"false", "true"}) {
        BuildResult result =
            BuildFrom(With(kTiny, "is_decoder", decoder), name);
        ASSERT_TRUE(result.built) << name;
        EXPECT_EQ(ForwardFailure(*result.built, kind), "") << name;
      }
    }
  }
}

}  // namespace
}  // namespace foretell
