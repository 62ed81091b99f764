#include "rules/serve_rules.h"

#include <gtest/gtest.h>

#include <string>

namespace foretell {
namespace {

const ServeRule& Rule(std::string_view id) {
  for (const ServeRule& rule : ServeRules()) {
    if (rule.id == id) return rule;
  }
  ADD_FAILURE() << id;
  return ServeRules().front();
}

RuleOutcome RunRule(std::string_view id, const ServeRuleInput& input) {
  const ServeRule& rule = Rule(id);
  return rule.run(rule, input);
}

TEST(ServeRules, EachRefusalFiresUnderItsOwnRule) {
  Launch launch;
  for (const ServeRule& rule : ServeRules()) {
    if (rule.kind.empty() || rule.kind == "flags") continue;
    VllmLaunch outcome;
    outcome.refusals.push_back(
        {std::string(rule.kind), "what", "why", "fix", ""});
    ServeRuleInput input;
    input.launch = &launch;
    input.outcome = &outcome;
    int fired = 0;
    for (const ServeRule& other : ServeRules()) {
      const RuleOutcome got = other.run(other, input);
      for (const Finding& finding : got.findings) {
        EXPECT_EQ(finding.rule, rule.id);
        EXPECT_EQ(finding.severity, Severity::kBlock);
        ++fired;
      }
    }
    EXPECT_EQ(fired, 1) << rule.id;
  }
}

TEST(ServeRules, WhatTheStartRefusesBlocks) {
  Launch launch;
  VllmLaunch outcome;
  outcome.at_start.push_back(
      {"dtype", "no bfloat16", "why", "--dtype half", "dtype"});
  ServeRuleInput input;
  input.launch = &launch;
  input.outcome = &outcome;
  const RuleOutcome got = RunRule("serve/dtype", input);
  ASSERT_EQ(got.findings.size(), 1U);
  EXPECT_EQ(got.findings[0].severity, Severity::kBlock);
  EXPECT_EQ(got.findings[0].fix, "--dtype half");
}

TEST(ServeRules, QuietWhereNothingIsWrong) {
  Launch launch;
  VllmLaunch outcome;
  ServeRuleInput input;
  input.launch = &launch;
  input.outcome = &outcome;
  const RuleOutcome got = RunRule("serve/context-length", input);
  EXPECT_TRUE(got.findings.empty());
  EXPECT_TRUE(got.cannot_tell.empty());
}

TEST(ServeRules, CannotTellWithoutAModel) {
  Launch launch;
  VllmLaunch outcome;
  ServeRuleInput input;
  input.launch = &launch;
  input.outcome = &outcome;
  input.has_model = false;
  EXPECT_FALSE(RunRule("serve/dtype", input).cannot_tell.empty());
  // The flags need none.
  EXPECT_TRUE(RunRule("serve/flags", input).cannot_tell.empty());
}

TEST(ServeRules, FlagsKeepTheirPlaces) {
  Launch launch;
  LaunchFault fault;
  fault.what = "no flag --x";
  fault.place.source = "argument 3";
  launch.faults.push_back(fault);
  VllmLaunch outcome;
  ServeRuleInput input;
  input.launch = &launch;
  input.outcome = &outcome;
  const RuleOutcome got = RunRule("serve/flags", input);
  ASSERT_EQ(got.findings.size(), 1U);
  EXPECT_EQ(got.findings[0].place.source, "argument 3");
}

TEST(RuleWeightsFit, FiresQuietAndCannotTell) {
  Launch launch;
  VllmLaunch outcome;
  ServeRuleInput input;
  input.launch = &launch;
  input.outcome = &outcome;
  EXPECT_FALSE(RunRule("serve/weights-fit", input).cannot_tell.empty());
  input.weights_bytes = 10;
  input.budget_bytes = 20;
  EXPECT_TRUE(RunRule("serve/weights-fit", input).findings.empty());
  input.weights_bytes = 30;
  const RuleOutcome got = RunRule("serve/weights-fit", input);
  ASSERT_EQ(got.findings.size(), 1U);
  EXPECT_EQ(got.findings[0].severity, Severity::kBlock);
}

TEST(RuleCacheFit, FiresQuietAndCannotTell) {
  Launch launch;
  VllmLaunch outcome;
  ServeRuleInput input;
  input.launch = &launch;
  input.outcome = &outcome;
  EXPECT_FALSE(RunRule("serve/kv-cache-fit", input).cannot_tell.empty());
  input.cache = ServeCacheFit{.needed_bytes = 10,
                              .left_low = 20,
                              .left_high = 30,
                              .length = 5,
                              .estimated_length = 0,
                              .fits = true,
                              .fails = false};
  EXPECT_TRUE(RunRule("serve/kv-cache-fit", input).findings.empty());
  input.cache->fits = false;
  EXPECT_FALSE(RunRule("serve/kv-cache-fit", input).cannot_tell.empty());
  input.cache->fails = true;
  input.cache->estimated_length = 4;
  const RuleOutcome got = RunRule("serve/kv-cache-fit", input);
  ASSERT_EQ(got.findings.size(), 1U);
  EXPECT_EQ(got.findings[0].fix, "--max-model-len 4");
  input.cache->reason = "pages differ";
  EXPECT_NE(RunRule("serve/kv-cache-fit", input)
                .findings[0]
                .what.find("pages differ"),
            std::string::npos);
  input.cache->missing = "its layers";
  EXPECT_EQ(RunRule("serve/kv-cache-fit", input).cannot_tell,
            "its layers; 0.00 to 0.00 GiB are left");
}

TEST(RulePreemption, FiresQuietAndUnasked) {
  Launch launch;
  VllmLaunch outcome;
  outcome.settings.max_num_seqs = 256;
  ServeRuleInput input;
  input.launch = &launch;
  input.outcome = &outcome;
  EXPECT_TRUE(RunRule("serve/preemption", input).findings.empty());
  input.pressure = ServePressure{2500, 300, 400};
  EXPECT_TRUE(RunRule("serve/preemption", input).findings.empty());
  input.pressure->holds_low = 8.7;
  const RuleOutcome got = RunRule("serve/preemption", input);
  ASSERT_EQ(got.findings.size(), 1U);
  EXPECT_EQ(got.findings[0].severity, Severity::kInfo);
  EXPECT_EQ(got.findings[0].fix, "--max-num-seqs 8");
}

TEST(RuleCacheFit, ADoubtHasItsNumbers) {
  Launch launch;
  VllmLaunch outcome;
  ServeRuleInput input;
  input.launch = &launch;
  input.outcome = &outcome;
  constexpr int64_t kGib = int64_t{1} << 30;
  ServeCacheFit fit;
  fit.needed_bytes = 2 * kGib;
  fit.left_low = kGib;
  fit.left_high = 3 * kGib;
  fit.length = 4096;
  fit.estimated_length = 4000;
  input.cache = fit;
  EXPECT_EQ(RunRule("serve/kv-cache-fit", input).cannot_tell,
            "whether one request of 4,096 tokens finds its 2.00 GiB of KV "
            "cache: 1.00 to 3.00 GiB are left; 4,000 tokens would fit in the "
            "likely amount");
}

}  // namespace
}  // namespace foretell
