#include "models/architecture.h"

#include <gtest/gtest.h>

namespace foretell {
namespace {

ModelConfig Stating(std::string_view type, std::string_view architecture) {
  ModelConfig config;
  config.source = "test";
  config.root = ConfigValue::Object();
  config.root.Set("model_type", ConfigValue::String(std::string(type)));
  config.root.Set(
      "architectures",
      ConfigValue::Array({ConfigValue::String(std::string(architecture))}));
  return config;
}

Architecture Choose(const ModelConfig& config, const BuildOptions& options,
                    ConfigLog& log) {
  return ChooseArchitecture(ConfigView(config, log), options);
}

TEST(ChooseArchitecture, ATaskTakesTheFamilysClass) {
  const ModelConfig config = Stating("qwen3", "Qwen3ForCausalLM");
  ConfigLog log;
  BuildOptions options;
  options.task = "token-classification";
  const Architecture chosen = Choose(config, options, log);
  EXPECT_EQ(chosen.class_name, "Qwen3ForTokenClassification");
  EXPECT_EQ(chosen.source, "--task token-classification");
  EXPECT_TRUE(log.problems.empty());
}

TEST(ChooseArchitecture, ATaskWithoutAClassListsThoseThatExist) {
  const ModelConfig config = Stating("gpt2", "GPT2LMHeadModel");
  ConfigLog log;
  BuildOptions options;
  options.task = "masked-lm";
  EXPECT_EQ(Choose(config, options, log).family, nullptr);
  ASSERT_EQ(log.problems.size(), 1u);
  EXPECT_EQ(log.problems[0].what, "GPT-2 has no class for \"masked-lm\"");
  EXPECT_NE(log.problems[0].cure.find("causal-lm (GPT2LMHeadModel)"),
            std::string::npos);
}

TEST(ChooseArchitecture, ADraftIsItsOwnClassUnlessTheLibraryIsAsked) {
  const ModelConfig config = Stating("llama", "LlamaForCausalLMEagle3");
  ConfigLog log;
  EXPECT_EQ(Choose(config, {}, log).class_name, "LlamaForCausalLMEagle3");
  BuildOptions options;
  options.library_only = true;
  EXPECT_EQ(Choose(config, options, log).class_name, "LlamaForCausalLM");
}

}  // namespace
}  // namespace foretell
