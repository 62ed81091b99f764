#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "models/family_test_config.h"

namespace foretell {
namespace {

const TestKeys kTiny = {
    {"model_type", "gemma2"},     {"vocab_size", "32"},
    {"hidden_size", "16"},        {"intermediate_size", "24"},
    {"num_hidden_layers", "3"},   {"num_attention_heads", "4"},
    {"num_key_value_heads", "2"}, {"head_dim", "8"},
    {"sliding_window", "3"}};

std::string KindsOf(const BuildResult& result) {
  std::string out;
  for (const LayerState& state : result.built->model->states) {
    out += std::string(NameOf(state.kind)) + " ";
  }
  return out;
}

TEST(Gemma2, EveryOtherLayerKeepsAWindow) {
  const BuildResult result = BuildFrom(kTiny);
  ASSERT_FALSE(IsRefused(result));
  EXPECT_EQ(KindsOf(result), "sliding full sliding ");
  const LayerState& first = result.built->model->states.front();
  EXPECT_EQ(first.window, 3);
  EXPECT_EQ(first.heads, 2);
  EXPECT_EQ(first.key_dim, 8);
}

TEST(Gemma2, TheHeadIsTheEmbeddingsUnlessItSaysOtherwise) {
  const std::vector<std::string> tied = {
      "lm_head.weight -> model.embed_tokens.weight"};
  EXPECT_EQ(TiesOf(*BuildFrom(kTiny).built->graph), tied);
  const BuildResult apart =
      BuildFrom(With(kTiny, "tie_word_embeddings", "false"));
  EXPECT_TRUE(TiesOf(*apart.built->graph).empty());
}

TEST(Gemma2, RunsWithAndWithoutCaps) {
  for (const std::string_view kind : {"eager", "sdpa"}) {
    BuildResult capped = BuildFrom(kTiny);
    EXPECT_EQ(ForwardFailure(*capped.built, kind), "");
    BuildResult open =
        BuildFrom(With(With(kTiny, "attn_logit_softcapping", "null"),
                       "final_logit_softcapping", "null"));
    EXPECT_EQ(ForwardFailure(*open.built, kind), "");
    // Of three layers' scores and of the logits: a quotient, the tanh and the
    // detached view of it that autograd keeps, a product.
    EXPECT_EQ(open.built->graph->operations.size() + 4 * (3 + 1),
              capped.built->graph->operations.size());
  }
}

TEST(Gemma2, SaysWhatItsForwardRefuses) {
  EXPECT_TRUE(IsRefused(BuildFrom(With(kTiny, "sliding_window", "null"))));
  EXPECT_TRUE(IsRefused(BuildFrom(With(kTiny, "sliding_window", "0"))));
  EXPECT_TRUE(IsRefused(BuildFrom(With(kTiny, "attention_dropout", "null"))));
  EXPECT_TRUE(IsRefused(BuildFrom(With(kTiny, "query_pre_attn_scalar", "0"))));
  EXPECT_TRUE(IsRefused(BuildFrom(With(kTiny, "hidden_size", "18"))));
}

}  // namespace
}  // namespace foretell
