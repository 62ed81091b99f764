// Each rule fires, stays quiet, and says when it cannot tell.
#include "rules/model_rules.h"

#include <gtest/gtest.h>

#include <set>

namespace foretell {
namespace {

struct Fixture {
  ModelConfig config;
  ParameterAnalysis parameters;
  std::vector<std::string> unread;

  Fixture() {
    config.source = "test";
    config.root = ConfigValue::Object();
    parameters.total = Parameters::Exact(1000);
  }

  RuleOutcome Run(std::string_view id) const {
    ModelRuleInput input;
    input.config = &config;
    input.class_name = "LlamaForCausalLM";
    input.parameters = &parameters;
    input.unread = &unread;
    for (const ModelRule& rule : ModelRules()) {
      if (rule.id == id) return rule.run(input);
    }
    ADD_FAILURE() << "no rule " << id;
    return {};
  }

  void Publish(int64_t total) {
    config.catalogue.emplace();
    config.catalogue->published = PublishedTotal{total, "a record"};
  }
};

TEST(ModelRules, EachHasADocAndAName) {
  std::set<std::string_view> ids;
  for (const ModelRule& rule : ModelRules()) {
    EXPECT_TRUE(ids.insert(rule.id).second) << rule.id;
    EXPECT_GT(rule.doc.size(), 40u) << rule.id;
  }
}

TEST(UnreadKeys, FiresAndStaysQuiet) {
  Fixture fixture;
  EXPECT_TRUE(fixture.Run("config/unread-keys").findings.empty());
  fixture.unread = {"mystery", "q_lora_rank"};
  const RuleOutcome outcome = fixture.Run("config/unread-keys");
  ASSERT_EQ(outcome.findings.size(), 1u);
  EXPECT_EQ(outcome.findings[0].what,
            "2 keys of the configuration are not read by LlamaForCausalLM: "
            "mystery, q_lora_rank");
  EXPECT_EQ(outcome.findings[0].severity, Severity::kWarn);
}

TEST(UnreadKeys, AHostileListIsCutShort) {
  Fixture fixture;
  fixture.unread.assign(100000, std::string(1000, 'k'));
  const RuleOutcome outcome = fixture.Run("config/unread-keys");
  ASSERT_EQ(outcome.findings.size(), 1u);
  EXPECT_LT(outcome.findings[0].what.size(), 5000u);
  EXPECT_TRUE(outcome.findings[0].what.ends_with("and 99960 more"));
}

TEST(PublishedTotal, FiresStaysQuietAndCannotTell) {
  Fixture fixture;
  EXPECT_EQ(fixture.Run("model/published-total").cannot_tell,
            "no published total is known for this configuration");
  fixture.Publish(1000);
  EXPECT_TRUE(fixture.Run("model/published-total").findings.empty());
  fixture.Publish(1024);
  const RuleOutcome outcome = fixture.Run("model/published-total");
  ASSERT_EQ(outcome.findings.size(), 1u);
  EXPECT_EQ(outcome.findings[0].what,
            "LlamaForCausalLM has 1,000 parameters and the published total is "
            "1,024: -24 (-2.344 %)");
  TensorGroup table;
  table.name = "wte.weight";
  table.shape = {6, 4};
  fixture.parameters.tensors = {table};
  fixture.parameters.ties = {{"lm_head.weight", "wte.weight"}};
  const RuleOutcome tied = fixture.Run("model/published-total");
  ASSERT_EQ(tied.findings.size(), 1u);
  EXPECT_EQ(tied.findings[0].severity, Severity::kInfo);
  EXPECT_EQ(tied.findings[0].why,
            "that is what published checkpoints differ by, exactly: "
            "lm_head.weight although it is tied (24)");
  fixture.parameters.total = Parameters::Unknown("a size");
  EXPECT_EQ(fixture.Run("model/published-total").cannot_tell,
            "the derived total is unknown");
}

TEST(Quantization, FiresAndStaysQuiet) {
  Fixture fixture;
  EXPECT_TRUE(fixture.Run("model/quantization").findings.empty());
  fixture.config.root.Set("quantization_config", ConfigValue::Null());
  EXPECT_TRUE(fixture.Run("model/quantization").findings.empty());
  ConfigValue quantization = ConfigValue::Object();
  quantization.Set("quant_method", ConfigValue::String("awq"));
  fixture.config.root.Set("quantization_config", quantization);
  const RuleOutcome outcome = fixture.Run("model/quantization");
  ASSERT_EQ(outcome.findings.size(), 1u);
  EXPECT_EQ(outcome.findings[0].what,
            "the checkpoint is quantized (awq); its stored bytes are not "
            "derived");
}

}  // namespace
}  // namespace foretell
