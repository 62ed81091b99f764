#include "answers/quantization_config.h"

#include <gtest/gtest.h>

#include <string>

#include "answers/quantization_defaults.h"
#include "answers/quantized_model.h"

namespace foretell {
namespace {

ConfigValue Object(std::vector<ConfigValue::Member> members) {
  return ConfigValue::Object(std::move(members));
}
ConfigValue Text(std::string text) {
  return ConfigValue::String(std::move(text));
}
ConfigValue Number(int64_t number) {
  return ConfigValue::Number(std::to_string(number));
}

WeightPlan Plan(const ConfigValue& quantization) {
  auto plan = PlanOfConfig(quantization, "LlamaForCausalLM", DType::kBFloat16);
  EXPECT_TRUE(std::holds_alternative<WeightPlan>(plan))
      << (std::holds_alternative<NoPlan>(plan) ? std::get<NoPlan>(plan).missing
                                               : "");
  return std::get<WeightPlan>(std::move(plan));
}

TEST(PlanOfConfig, ReadsBlocksOfFp8) {
  const WeightPlan plan = Plan(Object(
      {{"quant_method", Text("fp8")},
       {"weight_block_size", ConfigValue::Array({Number(128), Number(64)})},
       {"modules_to_not_convert", ConfigValue::Array({Text("lm_head")})}}));
  ASSERT_EQ(plan.rules.size(), 1u);
  EXPECT_EQ(plan.rules[0].packing.scales, ScaleOf::kBlock);
  EXPECT_EQ(plan.rules[0].packing.block_columns, 64);
  EXPECT_EQ(plan.rules[0].packing.scale_name, "weight_scale_inv");
  EXPECT_EQ(plan.skipped.size(), 1u);
  EXPECT_TRUE(plan.assumed.empty());
}

TEST(PlanOfConfig, SaysWhichDefaultsItTook) {
  const WeightPlan plan = Plan(Object({{"quant_method", Text("gptq")}}));
  EXPECT_EQ(plan.rules[0].packing.group_size, 128);
  ASSERT_EQ(plan.assumed.size(), 2u);
  EXPECT_EQ(plan.assumed[0], "bits 4, its library's default");
}

TEST(PlanOfConfig, ReadsGroupsOfCompressedTensors) {
  const ConfigValue weights = Object({{"num_bits", Number(4)},
                                      {"type", Text("int")},
                                      {"strategy", Text("group")},
                                      {"group_size", Number(32)},
                                      {"symmetric", ConfigValue::Bool(true)}});
  const WeightPlan plan = Plan(Object(
      {{"quant_method", Text("compressed-tensors")},
       {"format", Text("pack-quantized")},
       {"ignore", ConfigValue::Array({Text("re:.*self_attn.*")})},
       {"config_groups",
        Object({{"group_0",
                 Object({{"targets", ConfigValue::Array({Text("Linear")})},
                         {"weights", weights}})}})}}));
  ASSERT_EQ(plan.rules.size(), 1u);
  EXPECT_TRUE(plan.rules[0].targets.empty());
  EXPECT_EQ(plan.rules[0].packing.format, PackedFormat::kPackQuantized);
  EXPECT_EQ(plan.rules[0].packing.group_size, 32);
  ASSERT_EQ(plan.skipped.size(), 1u);
  EXPECT_TRUE(plan.skipped[0].Matches("model.layers.3.self_attn.q_proj"));
}

TEST(PlanOfConfig, UnknownMethodsAndPatternsAreMissing) {
  const auto missing = [](const ConfigValue& quantization) {
    const auto plan =
        PlanOfConfig(quantization, "LlamaForCausalLM", DType::kBFloat16);
    const auto* none = std::get_if<NoPlan>(&plan);
    return none == nullptr ? "" : none->missing;
  };
  EXPECT_EQ(missing(Object({{"quant_method", Text("quanto")}})),
            "how quanto packs");
  EXPECT_EQ(missing(Text("fp8")), "quantization_config as an object");
  EXPECT_EQ(
      missing(Object({{"quant_method", Text("gptq")}, {"bits", Text("four")}})),
      "bits as a whole number");
  EXPECT_EQ(missing(Object({{"quant_method", Text("fp8")},
                            {"modules_to_not_convert",
                             ConfigValue::Array({Text("a{2}")})}})),
            "what the pattern a{2} means");
}

TEST(PlanByDefault, EveryNameHasAPlanThatSaysItsTool) {
  for (const std::string_view name : PlanNames()) {
    const auto plan = PlanByDefault(name, "LlamaForCausalLM", DType::kBFloat16);
    ASSERT_TRUE(plan) << name;
    EXPECT_FALSE(plan->assumed.empty()) << name;
    EXPECT_FALSE(PackLinear(1024, 4096, plan->rules[0].packing).empty())
        << name;
  }
  EXPECT_FALSE(PlanByDefault("int3", "LlamaForCausalLM", DType::kBFloat16));
  EXPECT_TRUE(PlanByDefault("NF4", "LlamaForCausalLM", DType::kBFloat16));
}

}  // namespace
}  // namespace foretell
