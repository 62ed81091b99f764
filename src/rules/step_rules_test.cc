#include "rules/step_rules.h"

#include <gtest/gtest.h>

namespace foretell {
namespace {

StepRuleInput Gpt2(int64_t sequence) {
  return {.class_name = "GPT2LMHeadModel",
          .sequence = sequence,
          .context = 1024,
          .context_source = "n_positions",
          .position_table = "transformer.wpe"};
}

TEST(StepRules, EachHasItsDoc) {
  for (const StepRule& rule : StepRules()) {
    EXPECT_TRUE(rule.id.starts_with("step/"));
    EXPECT_TRUE(rule.doc.ends_with('.')) << rule.id;
  }
}

TEST(Positions, PastALearnedTableBlocks) {
  const RuleOutcome outcome = RulePositions(Gpt2(1025));
  ASSERT_EQ(outcome.findings.size(), 1u);
  EXPECT_EQ(outcome.findings[0].severity, Severity::kBlock);
  EXPECT_EQ(outcome.findings[0].what,
            "a sequence has 1,025 tokens, and GPT2LMHeadModel reaches 1,024 "
            "positions (n_positions)");
  EXPECT_EQ(outcome.findings[0].fix, "--seq 1024");
}

TEST(Positions, PastATrainedRangeWarns) {
  StepRuleInput input = Gpt2(1025);
  input.position_table.clear();
  const RuleOutcome outcome = RulePositions(input);
  ASSERT_EQ(outcome.findings.size(), 1u);
  EXPECT_EQ(outcome.findings[0].severity, Severity::kWarn);
}

TEST(Positions, WithinThemIsQuiet) {
  const RuleOutcome outcome = RulePositions(Gpt2(1024));
  EXPECT_TRUE(outcome.findings.empty());
  EXPECT_EQ(outcome.cannot_tell, "");
}

TEST(Positions, UnboundedIsQuiet) {
  const RuleOutcome outcome =
      RulePositions({.class_name = "MambaForCausalLM", .sequence = 1 << 20});
  EXPECT_TRUE(outcome.findings.empty());
  EXPECT_EQ(outcome.cannot_tell, "");
}

TEST(Positions, ATableOfUnknownLengthCannotTell) {
  StepRuleInput input = Gpt2(16);
  input.context.reset();
  EXPECT_EQ(RulePositions(input).cannot_tell,
            "how many positions transformer.wpe has");
}

}  // namespace
}  // namespace foretell
