#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engines/vllm/launch.h"

namespace foretell {
namespace {

ConfigValue Number(int64_t value) {
  return ConfigValue::Number(std::to_string(value));
}

// A Llama of 28 heads and 4 key heads, with an MLP of 18944 (Qwen 2.5 7B's
// sizes), as a version serves it.
class Start {
 public:
  explicit Start(EngineVersion version) {
    facts_.version = version;
    facts_.library = "4.57.6";
    EngineArchitecture arch;
    arch.name = arch.class_name = "LlamaForCausalLM";
    arch.group = "text";
    arch.facts = {"lora", "pp", "text"};
    facts_.architectures["LlamaForCausalLM"] = arch;
    ConfigClassFacts type;
    type.class_name = "LlamaConfig";
    facts_.model_types["llama"] = type;
    EngineQuantization gptq;
    gptq.name = "gptq";
    gptq.class_name = "GPTQConfig";
    facts_.quantizations.push_back(gptq);
    card_.name = "A100";
    card_.full = "NVIDIA A100-SXM4-80GB";
    card_.capability = 80;
    card_.driver_bytes = card_.runtime_bytes = int64_t{80} << 30;
    ConfigValue& root = model_.root;
    root = ConfigValue::Object();
    root.Set("model_type", ConfigValue::String("llama"));
    ConfigValue list = ConfigValue::Array();
    list.mutable_items().push_back(ConfigValue::String("LlamaForCausalLM"));
    root.Set("architectures", std::move(list));
    root.Set("torch_dtype", ConfigValue::String("bfloat16"));
    Set("num_attention_heads", 28);
    Set("num_key_value_heads", 4);
    Set("hidden_size", 3584);
    Set("intermediate_size", 18944);
    Set("num_hidden_layers", 28);
    Set("max_position_embeddings", 32768);
    Set("vocab_size", 152064);
  }
  void Set(const std::string& key, int64_t value) {
    model_.root.Set(key, Number(value));
  }
  void Set(const std::string& key, ConfigValue value) {
    model_.root.Set(key, std::move(value));
  }
  void Flag(const std::string& name, int64_t value) {
    launch_.settings.push_back({name, "", Number(value), {}});
  }
  void Flag(const std::string& name, ConfigValue value) {
    launch_.settings.push_back({name, "", std::move(value), {}});
  }
  void List(const std::string& name, std::vector<std::string> values) {
    facts_.lists[name] = std::move(values);
  }
  void Environment(const std::string& name, const std::string& value) {
    launch_.environment.emplace_back(name, value);
  }
  ServingCard& card() { return card_; }
  int64_t cards = 8;

  VllmLaunch Run() {
    facts_.IndexFlags();
    VllmRequest request;
    request.launch = &launch_;
    request.facts = &facts_;
    request.model = &model_;
    request.card = &card_;
    request.cards = cards;
    return ResolveVllm(request);
  }

 private:
  EngineFacts facts_;
  Launch launch_;
  ModelConfig model_;
  ServingCard card_;
};

std::string FirstAtStart(const VllmLaunch& got) {
  return got.at_start.empty() ? "" : got.at_start.front().kind;
}

TEST(LaunchStart, QuietWhereEverythingDivides) {
  Start start({0, 33, 0});
  start.Flag("tensor_parallel_size", 4);
  const VllmLaunch got = start.Run();
  EXPECT_TRUE(got.refusals.empty());
  EXPECT_TRUE(got.at_start.empty());
}

TEST(LaunchStart, KeyHeadsMustDivideOneWayOrTheOther) {
  Start start({0, 33, 0});
  start.Set("num_key_value_heads", 10);  // as Phi-3 medium's
  start.Set("num_attention_heads", 40);
  start.Flag("tensor_parallel_size", 4);
  const VllmLaunch got = start.Run();
  EXPECT_TRUE(got.refusals.empty());
  ASSERT_EQ(FirstAtStart(got), "parallel-divisibility");
  EXPECT_EQ(got.at_start.front().fix, "--tensor-parallel-size 2");
}

TEST(LaunchStart, AnMlpMustDivide) {
  Start start({0, 33, 0});
  start.Set("intermediate_size", 18942);
  start.Flag("tensor_parallel_size", 4);
  EXPECT_EQ(FirstAtStart(start.Run()), "parallel-divisibility");
}

TEST(LaunchStart, RanksHoldWholeGroups) {
  // Qwen 2 72B's 29568 by eight ranks: 3696, and groups are of 128.
  ConfigValue quantization = ConfigValue::Object();
  quantization.Set("quant_method", ConfigValue::String("gptq"));
  quantization.Set("bits", Number(4));
  quantization.Set("group_size", Number(128));
  quantization.Set("desc_act", ConfigValue::Bool(false));
  quantization.Set("sym", ConfigValue::Bool(true));
  for (const int64_t ranks : {4, 8}) {
    Start start({0, 5, 5});
    start.Set("num_attention_heads", 64);
    start.Set("num_key_value_heads", 8);
    start.Set("intermediate_size", 29568);
    start.Set("quantization_config", quantization);
    start.Flag("tensor_parallel_size", ranks);
    const VllmLaunch got = start.Run();
    EXPECT_EQ(FirstAtStart(got), "parallel-divisibility") << ranks;
  }
}

TEST(LaunchStart, Bfloat16NeedsAmpere) {
  // Since 0.9.1 the precision follows the card; before, the worker ends.
  Start older({0, 6, 6});
  older.card().capability = 75;
  EXPECT_EQ(FirstAtStart(older.Run()), "dtype");
  Start newer({0, 9, 1});
  newer.card().capability = 75;
  const VllmLaunch got = newer.Run();
  EXPECT_TRUE(got.at_start.empty());
  EXPECT_EQ(got.settings.dtype, "float16");
}

TEST(LaunchStart, NodesWereDividedUpTo012) {
  for (const int minor : {1, 2}) {
    Start start({0, minor, 2});
    start.cards = 3;
    start.Flag("tensor_parallel_size", 2);
    const VllmLaunch got = start.Run();
    EXPECT_EQ(!got.refusals.empty(), minor == 1);
  }
}

TEST(LaunchStart, ClassesWereLookedForLateBefore063) {
  Start older({0, 6, 2});
  ConfigValue list = ConfigValue::Array();
  list.mutable_items().push_back(ConfigValue::String("NoSuchForCausalLM"));
  older.Set("architectures", list);
  const VllmLaunch late = older.Run();
  EXPECT_TRUE(late.refusals.empty());
  EXPECT_EQ(FirstAtStart(late), "architecture");
  Start newer({0, 6, 3});
  newer.Set("architectures", list);
  EXPECT_FALSE(newer.Run().refusals.empty());
}

TEST(LaunchV0, ItsDefaults) {
  Start start({0, 6, 3});
  const VllmLaunch got = start.Run();
  EXPECT_FALSE(got.settings.is_v1);
  EXPECT_FALSE(got.settings.enable_chunked_prefill);
  EXPECT_FALSE(got.settings.enable_prefix_caching);
  EXPECT_EQ(got.settings.max_num_batched_tokens, 32768);
  EXPECT_EQ(got.settings.max_num_seqs, 256);
  EXPECT_EQ(got.settings.cudagraph_sizes.back(), 256);
}

TEST(LaunchV0, LongPromptsAreCut) {
  for (const auto& [patch, tokens] : {std::pair{3, 512}, {5, 2048}}) {
    Start start({0, 6, patch});
    start.Set("max_position_embeddings", 131072);
    const VllmLaunch got = start.Run();
    EXPECT_TRUE(got.settings.enable_chunked_prefill);
    EXPECT_EQ(got.settings.max_num_batched_tokens, tokens);
  }
}

TEST(LaunchV0, WhenTheSecondEngineRuns) {
  EXPECT_TRUE(Start({0, 8, 0}).Run().settings.is_v1);
  EXPECT_FALSE(Start({0, 7, 3}).Run().settings.is_v1);
  Start asked({0, 7, 3});
  asked.Environment("VLLM_USE_V1", "1");
  EXPECT_TRUE(asked.Run().settings.is_v1);
  Start barred({0, 10, 0});
  barred.Environment("VLLM_USE_V1", "0");
  EXPECT_FALSE(barred.Run().settings.is_v1);
  Start older_card({0, 8, 5});
  older_card.card().capability = 75;
  EXPECT_FALSE(older_card.Run().settings.is_v1);
  Start last({0, 11, 0});
  last.card().capability = 75;
  EXPECT_TRUE(last.Run().settings.is_v1);
}

TEST(LaunchStart, ParsersAreThoseOfTheRelease) {
  Start start({0, 19, 0});
  start.List("tool_parsers", {"hermes", "llama3_json"});
  start.List("reasoning_parsers", {"qwen3"});
  start.Flag("tool_call_parser", ConfigValue::String("hermez"));
  // Without automatic choice the name is not looked at.
  EXPECT_TRUE(start.Run().at_start.empty());
  start.Flag("enable_auto_tool_choice", ConfigValue::Bool(true));
  const VllmLaunch refused = start.Run();
  ASSERT_EQ(refused.at_start.size(), 1U);
  EXPECT_EQ(refused.at_start[0].kind, "flags");
  EXPECT_EQ(refused.at_start[0].fix, "--tool-call-parser hermes");
  start.Flag("tool_parser_plugin", ConfigValue::String("own.py"));
  EXPECT_TRUE(start.Run().at_start.empty());
  start.Flag("reasoning_parser", ConfigValue::String("qwen3"));
  EXPECT_TRUE(start.Run().at_start.empty());
}

TEST(LaunchV1, BatchesByCardAndVersion) {
  // 0.8.5 went by memory alone, 0.9.0 leaves A100s out.
  EXPECT_EQ(Start({0, 8, 5}).Run().settings.max_num_batched_tokens, 8192);
  EXPECT_EQ(Start({0, 9, 0}).Run().settings.max_num_batched_tokens, 2048);
  EXPECT_EQ(Start({0, 8, 4}).Run().settings.max_num_batched_tokens, 2048);
}

}  // namespace
}  // namespace foretell
