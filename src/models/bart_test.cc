#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/family_test_config.h"

namespace foretell {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const TestKeys kTiny = {{"model_type", "bart"},
                        {"d_model", "8"},
                        {"encoder_layers", "1"},
                        {"decoder_layers", "2"},
                        {"encoder_attention_heads", "2"},
                        {"decoder_attention_heads", "4"},
                        {"encoder_ffn_dim", "12"},
                        {"decoder_ffn_dim", "16"},
                        {"max_position_embeddings", "16"},
                        {"vocab_size", "32"}};

TEST(BartTest, PartsFollowTheClass) {
  struct Case {
    std::string_view name;
    std::string_view has;
    std::string_view lacks;
  };
  const Case cases[] = {
      {"BartModel", "encoder.layers.0.fc1.bias", "model.shared.weight"},
      {"BartForConditionalGeneration", "lm_head.weight", "lm_head.bias"},
      {"BartForSequenceClassification", "classification_head.out_proj.bias",
       "lm_head.weight"},
      {"BartForQuestionAnswering", "qa_outputs.bias", "lm_head.weight"},
      {"BartForCausalLM", "model.decoder.layers.1.encoder_attn.k_proj.bias",
       "model.shared.weight"}};
  for (const Case& one : cases) {
    const BuildResult result = BuildFrom(kTiny, one.name);
    ASSERT_TRUE(result.built) << one.name;
    EXPECT_TRUE(HasParameter(*result.built->graph, one.has)) << one.name;
    EXPECT_FALSE(HasParameter(*result.built->graph, one.lacks)) << one.name;
  }
}

TEST(BartTest, OneTableHasFourNames) {
  const BuildResult result = BuildFrom(kTiny, "BartForConditionalGeneration");
  EXPECT_THAT(
      TiesOf(*result.built->graph),
      ElementsAre("model.encoder.embed_tokens.weight -> model.shared.weight",
                  "model.decoder.embed_tokens.weight -> model.shared.weight",
                  "lm_head.weight -> model.shared.weight"));
  EXPECT_THAT(TiesOf(*BuildFrom(kTiny).built->graph),
              ElementsAre("lm_head.weight -> "
                          "model.decoder.embed_tokens.weight"));
  const TestKeys untied = With(kTiny, "tie_word_embeddings", "false");
  EXPECT_THAT(TiesOf(*BuildFrom(untied, "BartModel").built->graph), IsEmpty());
}

TEST(BartTest, LayersKeepWhatTheyAttendTo) {
  const LayerState none;
  const LayerState full = {LayerState::Kind::kFull, 4, 2, 2, 0};
  const LayerState cross = {LayerState::Kind::kCross, 4, 2, 2, 0};
  EXPECT_THAT(BuildFrom(kTiny, "BartModel").built->model->states,
              ElementsAre(none, full, cross, full, cross));
  EXPECT_THAT(BuildFrom(kTiny).built->model->states, ElementsAre(full, full));
}

// An alias is applied after the class's own name.
TEST(BartTest, AliasesDecide) {
  TestKeys keys = With(kTiny, "num_hidden_layers", "3");
  keys = With(keys, "hidden_size", "12");
  const BuildResult result = BuildFrom(keys, "BartModel");
  ASSERT_TRUE(result.built);
  EXPECT_TRUE(HasParameter(*result.built->graph, "encoder.layers.2.fc1.bias"));
  EXPECT_FALSE(HasParameter(*result.built->graph, "decoder.layers.2.fc1.bias"));
}

TEST(BartTest, RefusesWhatTheClassRefuses) {
  const TestKeys cases[] = {With(kTiny, "decoder_attention_heads", "3"),
                            With(kTiny, "num_attention_heads", "3"),
                            With(kTiny, "vocab_size", "1"),
                            With(kTiny, "pad_token_id", "32"),
                            With(kTiny, "encoder_layerdrop", "0"),
                            With(kTiny, "activation_function", "golu")};
  for (const TestKeys& keys : cases) {
    EXPECT_TRUE(IsRefused(BuildFrom(keys, "BartModel"))) << keys.back().first;
  }
  // A decoder alone does not read the encoder's heads.
  EXPECT_FALSE(IsRefused(BuildFrom(With(kTiny, "num_attention_heads", "3"))));
}

TEST(BartTest, WhatDependsOnDataOrChanceIsNotDerived) {
  BuildResult drops = BuildFrom(With(kTiny, "decoder_layerdrop", "0.5"));
  ASSERT_TRUE(drops.built);
  EXPECT_NE(ForwardFailure(*drops.built, "sdpa"), "");
  BuildResult sequence = BuildFrom(kTiny, "BartForSequenceClassification");
  ASSERT_TRUE(sequence.built);
  EXPECT_NE(ForwardFailure(*sequence.built, "sdpa"), "");
}

TEST(BartTest, HostileSizesNeverCrash) {
  for (const std::string_view key :
       {"vocab_size", "max_position_embeddings", "d_model", "decoder_layers",
        "decoder_attention_heads", "encoder_attention_heads", "encoder_layers",
        "encoder_ffn_dim", "dropout", "decoder_start_token_id", "num_labels"}) {
    for (const std::string_view value :
         {"0", "-1", "1", "3", "2147483647", "1099511627776", "text", "null"}) {
      for (const std::string_view name :
           {"BartModel", "BartForConditionalGeneration", "BartForCausalLM",
            "BartForSequenceClassification", "BartForQuestionAnswering"}) {
        for (const std::string_view kind : {"eager", "sdpa"}) {
          BuildResult result = BuildFrom(With(kTiny, key, value), name);
          if (result.built) ForwardFailure(*result.built, kind);
        }
      }
    }
  }
}

TEST(BartTest, ForwardRunsForEveryClassThatTakesTokens) {
  for (const std::string_view name :
       {"BartModel", "BartForConditionalGeneration", "BartForCausalLM",
        "BartForQuestionAnswering"}) {
    for (const std::string_view kind : {"eager", "sdpa"}) {
      BuildResult result = BuildFrom(kTiny, name);
      ASSERT_TRUE(result.built) << name;
      EXPECT_EQ(ForwardFailure(*result.built, kind), "") << name;
    }
  }
}

}  // namespace
}  // namespace foretell
