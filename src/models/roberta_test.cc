#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/family_test_config.h"

namespace foretell {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const TestKeys kTiny = {
    {"model_type", "roberta"},    {"hidden_size", "8"},
    {"num_attention_heads", "2"}, {"num_hidden_layers", "2"},
    {"intermediate_size", "12"},  {"max_position_embeddings", "16"},
    {"vocab_size", "32"}};

TEST(RobertaTest, PoolerAndHeadFollowTheClass) {
  struct Case {
    std::string_view name;
    std::string_view has;
    std::string_view lacks;
  };
  const Case cases[] = {
      {"RobertaModel", "pooler.dense.bias", "roberta.pooler.dense.bias"},
      {"RobertaForMaskedLM", "lm_head.decoder.bias",
       "roberta.pooler.dense.bias"},
      {"RobertaForSequenceClassification", "classifier.out_proj.weight",
       "roberta.pooler.dense.bias"},
      {"XLMRobertaForMultipleChoice", "roberta.pooler.dense.weight",
       "lm_head.bias"},
      {"XLMRobertaForTokenClassification", "classifier.bias",
       "roberta.pooler.dense.bias"},
      {"RobertaForQuestionAnswering", "qa_outputs.bias",
       "roberta.pooler.dense.bias"}};
  for (const Case& one : cases) {
    const BuildResult result = BuildFrom(kTiny, one.name);
    ASSERT_TRUE(result.built) << one.name;
    EXPECT_TRUE(HasParameter(*result.built->graph, one.has)) << one.name;
    EXPECT_FALSE(HasParameter(*result.built->graph, one.lacks)) << one.name;
  }
}

// The name that is registered first owns the table.
TEST(RobertaTest, TheHeadIsTiedInTheOrderOfItsFamily) {
  EXPECT_THAT(TiesOf(*BuildFrom(kTiny).built->graph),
              ElementsAre("lm_head.decoder.weight -> "
                          "roberta.embeddings.word_embeddings.weight",
                          "lm_head.decoder.bias -> lm_head.bias"));
  const BuildResult xlm = BuildFrom(With(kTiny, "model_type", "xlm-roberta"));
  EXPECT_EQ(xlm.built->class_name, "XLMRobertaForCausalLM");
  EXPECT_THAT(TiesOf(*xlm.built->graph),
              ElementsAre("lm_head.decoder.bias -> lm_head.bias",
                          "roberta.embeddings.word_embeddings.weight -> "
                          "lm_head.decoder.weight"));
  const TestKeys untied = With(kTiny, "tie_word_embeddings", "false");
  EXPECT_THAT(TiesOf(*BuildFrom(untied).built->graph), IsEmpty());
}

TEST(RobertaTest, PositionsUpToThePaddingAreNotForTokens) {
  const BuildResult padded = BuildFrom(kTiny, "RobertaModel");
  EXPECT_EQ(padded.built->model->context_length.tokens, 14);
  const BuildResult from_end =
      BuildFrom(With(kTiny, "pad_token_id", "-1"), "RobertaModel");
  EXPECT_EQ(from_end.built->model->context_length.tokens, 16);
}

TEST(RobertaTest, RefusesWhatTheClassRefuses) {
  const TestKeys cases[] = {With(kTiny, "num_attention_heads", "3"),
                            With(kTiny, "add_cross_attention", "true"),
                            With(kTiny, "pad_token_id", "16"),
                            With(kTiny, "max_position_embeddings", "1"),
                            With(kTiny, "vocab_size", "1"),
                            With(kTiny, "hidden_dropout_prob", "1.5"),
                            With(kTiny, "hidden_act", "golu")};
  for (const TestKeys& keys : cases) {
    EXPECT_TRUE(IsRefused(BuildFrom(keys))) << keys.back().first;
  }
}

TEST(RobertaTest, PositionsNeedThePaddingToken) {
  BuildResult result = BuildFrom(With(kTiny, "pad_token_id", "null"));
  ASSERT_TRUE(result.built);
  EXPECT_THAT(ForwardFailure(*result.built, "sdpa"),
              testing::HasSubstr("pad_token_id"));
}

TEST(RobertaTest, HostileSizesNeverCrash) {
  for (const std::string_view key :
       {"vocab_size", "max_position_embeddings", "hidden_size",
        "num_attention_heads", "num_hidden_layers", "intermediate_size",
        "type_vocab_size", "pad_token_id", "num_labels"}) {
    for (const std::string_view value :
         {"0", "-1", "1", "3", "2147483647", "1099511627776", "text", "null"}) {
      for (const std::string_view name :
           {"RobertaForMaskedLM", "XLMRobertaForSequenceClassification",
            "RobertaForMultipleChoice", "XLMRobertaForQuestionAnswering"}) {
        for (const std::string_view kind : {"eager", "sdpa"}) {
          BuildResult result = BuildFrom(With(kTiny, key, value), name);
          if (result.built) ForwardFailure(*result.built, kind);
        }
      }
    }
  }
}

TEST(RobertaTest, ForwardRunsForEveryClassThatTakesTokens) {
  for (const std::string_view name :
       {"RobertaModel", "RobertaForCausalLM", "RobertaForMaskedLM",
        "RobertaForTokenClassification", "RobertaForQuestionAnswering",
        "XLMRobertaForMaskedLM"}) {
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
