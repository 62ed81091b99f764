// Totals that diffusers 0.42.1 counts for small settings of its classes.
#include <gtest/gtest.h>

#include <string>

#include "models/family_test_config.h"

namespace foretell {
namespace {

int64_t Parameters(const BuildResult& result) {
  int64_t sum = 0;
  const Graph& graph = *result.built->graph;
  for (const auto& parameter : graph.parameters) {
    sum += graph[parameter.value].shape.Elements().value_or(0);
  }
  return sum;
}

const TestKeys kSmall = {{"attention_head_dim", "8"},
                         {"num_attention_heads", "4"},
                         {"joint_attention_dim", "24"}};

TestKeys Of(std::string_view class_name, const TestKeys& more) {
  TestKeys out = kSmall;
  out.emplace_back("_class_name", class_name);
  out.insert(out.end(), more.begin(), more.end());
  return out;
}

TEST(DiffusionTransformers, CountsAsDiffusersDoes) {
  const BuildResult flux =
      BuildFrom(Of("FluxTransformer2DModel", {{"num_layers", "2"},
                                              {"num_single_layers", "3"},
                                              {"pooled_projection_dim", "16"},
                                              {"in_channels", "20"},
                                              {"out_channels", "12"},
                                              {"patch_size", "2"},
                                              {"guidance_embeds", "true"}}));
  ASSERT_FALSE(IsRefused(flux));
  EXPECT_EQ(Parameters(flux), 148'224);
  ModelConfig dual =
      TestConfig(Of("SD3Transformer2DModel", {{"num_layers", "3"},
                                              {"caption_projection_dim", "32"},
                                              {"pooled_projection_dim", "16"},
                                              {"pos_embed_max_size", "12"},
                                              {"qk_norm", "rms_norm"}}));
  dual.root.Set(
      "dual_attention_layers",
      ConfigValue::Array({ConfigValue::Number("0"), ConfigValue::Number("1")}));
  const BuildResult sd3 = BuildModel(dual, {});
  ASSERT_FALSE(IsRefused(sd3));
  EXPECT_EQ(Parameters(sd3), 132'736);
  const BuildResult qwen = BuildFrom(
      Of("QwenImageTransformer2DModel", {{"num_layers", "2"},
                                         {"use_additional_t_cond", "true"},
                                         {"out_channels", "null"}}));
  ASSERT_FALSE(IsRefused(qwen));
  EXPECT_EQ(Parameters(qwen), 98'520);
}

TEST(DiffusionTransformers, SizesThatMakeNoModelAreProblems) {
  EXPECT_TRUE(IsRefused(
      BuildFrom(Of("FluxTransformer2DModel", {{"num_layers", "9999999999"}}))));
  EXPECT_TRUE(IsRefused(BuildFrom(
      Of("SD3Transformer2DModel", {{"pos_embed_max_size", "1099511627776"}}))));
  EXPECT_TRUE(IsRefused(
      BuildFrom(Of("QwenImageTransformer2DModel", {{"patch_size", "0"}}))));
}

// An architecture of diffusers' beside another library's type.
TEST(DiffusionTransformers, AForeignTypeIsNoFault) {
  ModelConfig config =
      TestConfig({{"model_type", "llama"}, {"num_layers", "1"}});
  config.root.Set(
      "architectures",
      ConfigValue::Array({ConfigValue::String("FluxTransformer2DModel")}));
  EXPECT_FALSE(IsRefused(BuildModel(config, {})));
}

}  // namespace
}  // namespace foretell
