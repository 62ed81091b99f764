#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/family_test_config.h"

namespace foretell {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const TestKeys kTiny = {{"model_type", "gpt2"}, {"n_embd", "8"},
                        {"n_head", "2"},        {"n_layer", "2"},
                        {"n_positions", "16"},  {"vocab_size", "32"},
                        {"pad_token_id", "0"}};

TEST(Gpt2Test, ClassIsTheLanguageModelByDefault) {
  const BuildResult result = BuildFrom(kTiny);
  ASSERT_TRUE(result.built);
  EXPECT_EQ(result.built->class_name, "GPT2LMHeadModel");
  EXPECT_THAT(result.unread, IsEmpty());
}

TEST(Gpt2Test, TiesFollowTheFlagAndTheHead) {
  EXPECT_THAT(TiesOf(*BuildFrom(kTiny).built->graph),
              ElementsAre("lm_head.weight -> transformer.wte.weight"));
  const TestKeys untied = With(kTiny, "tie_word_embeddings", "false");
  EXPECT_THAT(TiesOf(*BuildFrom(untied).built->graph), IsEmpty());
  EXPECT_THAT(TiesOf(*BuildFrom(kTiny, "GPT2Model").built->graph), IsEmpty());
}

TEST(Gpt2Test, AliasIsAppliedLast) {
  const BuildResult result = BuildFrom(With(kTiny, "hidden_size", "4"));
  ASSERT_TRUE(result.built);
  EXPECT_EQ(
      (*result.built->graph)[result.built->graph->parameters[0].value].shape,
      Shape({32, 4}));
  ASSERT_FALSE(result.log.findings.empty());
  EXPECT_EQ(result.log.findings[0].rule, "config/two-names");
}

TEST(Gpt2Test, StatesAndContext) {
  const BuildResult result =
      BuildFrom(With(kTiny, "add_cross_attention", "true"));
  const Model& model = *result.built->model;
  using Kind = LayerState::Kind;
  const LayerState full = {Kind::kFull, 2, 4, 4, 0};
  const LayerState cross = {Kind::kCross, 2, 4, 4, 0};
  EXPECT_THAT(model.states, ElementsAre(full, cross, full, cross));
  EXPECT_EQ(model.context_length.tokens, 16);
  EXPECT_TRUE(HasParameter(*result.built->graph,
                           "transformer.h.1.crossattention.q_attn.bias"));
}

TEST(Gpt2Test, RefusesWhatTheClassRefuses) {
  const TestKeys cases[] = {With(kTiny, "n_head", "3"),
                            With(kTiny, "attn_pdrop", "1.5"),
                            With(kTiny, "n_embd", "8.0"),
                            With(kTiny, "n_layer", "null"),
                            With(kTiny, "layer_norm_epsilon", "1"),
                            With(kTiny, "activation_function", "golu")};
  for (const TestKeys& keys : cases) {
    EXPECT_TRUE(IsRefused(BuildFrom(keys))) << keys.back().first;
  }
  EXPECT_TRUE(IsRefused(
      BuildFrom(With(kTiny, "summary_type", "attn"), "GPT2DoubleHeadsModel")));
  EXPECT_FALSE(IsRefused(BuildFrom(With(kTiny, "summary_type", "attn"))));
}

// Whatever a size is, there is a refusal or a model, and its forward runs or
// says why not.
TEST(Gpt2Test, HostileSizesNeverCrash) {
  for (const std::string_view key :
       {"vocab_size", "n_positions", "n_embd", "n_layer", "n_head", "n_inner",
        "pad_token_id", "num_labels"}) {
    for (const std::string_view value :
         {"0", "-1", "1", "7", "2147483647", "1099511627776", "text", "null",
          "true", "1e9999"}) {
      if (key == "n_layer" && value == "2147483647") continue;
      for (const std::string_view name :
           {"GPT2LMHeadModel", "GPT2DoubleHeadsModel",
            "GPT2ForSequenceClassification"}) {
        for (const std::string_view kind : {"eager", "sdpa"}) {
          BuildResult result = BuildFrom(With(kTiny, key, value), name);
          if (result.built) ForwardFailure(*result.built, kind);
        }
      }
    }
  }
}

TEST(Gpt2Test, ForwardRunsForEveryClass) {
  for (const std::string_view name :
       {"GPT2Model", "GPT2LMHeadModel", "GPT2DoubleHeadsModel",
        "GPT2ForTokenClassification", "GPT2ForQuestionAnswering"}) {
    for (const std::string_view kind : {"eager", "sdpa"}) {
      BuildResult result = BuildFrom(kTiny, name);
      ASSERT_TRUE(result.built) << name;
      EXPECT_EQ(ForwardFailure(*result.built, kind), "") << name;
    }
  }
}

}  // namespace
}  // namespace foretell
