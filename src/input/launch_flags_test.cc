#include "input/launch_flags.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "input/engine_facts.h"
#include "spec/serving_source.h"

namespace foretell {
namespace {

const EngineFacts& Facts(int minor) {
  static const EngineFacts newest =
      ReadEngineFacts(ServingEngine::kVllm, {0, 33, 0});
  static const EngineFacts older =
      ReadEngineFacts(ServingEngine::kVllm, {0, 9, 2});
  return minor == 33 ? newest : older;
}

Launch Read(const std::vector<std::string>& words, int minor = 33) {
  return ReadLaunch(Facts(minor), LineOfArguments(ServingEngine::kVllm, words));
}

std::string Value(const Launch& launch, std::string_view name) {
  const LaunchSetting* setting = launch.Find(name);
  return setting == nullptr ? "absent" : setting->value.ToJson();
}

LaunchFault::Kind OnlyFault(const Launch& launch) {
  EXPECT_EQ(launch.faults.size(), 1U);
  return launch.faults.empty() ? LaunchFault::Kind::kTwice
                               : launch.faults[0].kind;
}

TEST(ReadLaunch, TakesEverySpelling) {
  const Launch launch =
      Read({"m", "-tp", "2", "--max_model_len=32K", "--enforce-eager",
            "--no-enable-prefix-caching", "-O3"});
  EXPECT_EQ(launch.model, "m");
  EXPECT_TRUE(launch.faults.empty());
  EXPECT_EQ(Value(launch, "tensor_parallel_size"), "2");
  EXPECT_EQ(Value(launch, "max_model_len"), "32768");
  EXPECT_EQ(Value(launch, "enforce_eager"), "true");
  EXPECT_EQ(Value(launch, "enable_prefix_caching"), "false");
  EXPECT_EQ(Value(launch, "optimization_level"), "\"3\"");
}

TEST(ReadLaunch, FoldsDottedKeysIntoJson) {
  const Launch launch =
      Read({"m", "--compilation-config.mode", "3",
            "--compilation-config.pass_config.fuse_norm_quant=true",
            "--hf-overrides.max_position_embeddings", "4096"});
  EXPECT_EQ(Value(launch, "compilation_config"),
            "{\"mode\":3,\"pass_config\":{\"fuse_norm_quant\":true}}");
  EXPECT_EQ(Value(launch, "hf_overrides"),
            "{\"max_position_embeddings\":4096}");
}

TEST(ReadLaunch, NamesTheNearestFlagByVersion) {
  const Launch typo = Read({"m", "--tensor-paralel-size", "2"});
  EXPECT_EQ(OnlyFault(typo), LaunchFault::Kind::kUnknown);
  EXPECT_EQ(typo.faults[0].fix, "--tensor-parallel-size");
  EXPECT_EQ(OnlyFault(Read({"m", "--swap-space", "4"})),
            LaunchFault::Kind::kRemoved);
  EXPECT_TRUE(Read({"m", "--swap-space", "4"}, 9).faults.empty());
  EXPECT_EQ(OnlyFault(Read({"m", "--performance-mode", "throughput"}, 9)),
            LaunchFault::Kind::kNotYet);
}

TEST(ReadLaunch, TakesAUniqueBeginningOnly) {
  const Launch one = Read({"m", "--enable-prefix-cachin"});
  EXPECT_EQ(Value(one, "enable_prefix_caching"), "true");
  EXPECT_FALSE(one.faults[0].refuses);
  EXPECT_EQ(OnlyFault(Read({"m", "--max-num"})), LaunchFault::Kind::kAmbiguous);
}

TEST(ReadLaunch, FaultsWhatTheParserWould) {
  EXPECT_EQ(OnlyFault(Read({"m", "--tensor-parallel-size"})),
            LaunchFault::Kind::kNoValue);
  EXPECT_EQ(OnlyFault(Read({"m", "--tensor-parallel-size", "two"})),
            LaunchFault::Kind::kValue);
  EXPECT_EQ(OnlyFault(Read({"m", "--dtype", "int8"})),
            LaunchFault::Kind::kChoice);
  EXPECT_EQ(OnlyFault(Read({"m", "--hf-overrides", "{bad}"})),
            LaunchFault::Kind::kJson);
  EXPECT_EQ(OnlyFault(Read({"m", "--compilation-config", "{\"level\":0}"})),
            LaunchFault::Kind::kJson);
  EXPECT_EQ(OnlyFault(Read({"m", "--enforce-eager=true"})),
            LaunchFault::Kind::kValue);
  EXPECT_EQ(OnlyFault(Read({"m", "stray"})), LaunchFault::Kind::kUnknown);
  const Launch twice = Read({"m", "-tp", "2", "-tp", "4"});
  EXPECT_EQ(OnlyFault(twice), LaunchFault::Kind::kTwice);
  EXPECT_EQ(Value(twice, "tensor_parallel_size"), "4");
}

TEST(ReadHumanSize, KnowsBothKindsOfPrefix) {
  EXPECT_EQ(ReadHumanSize("32k"), 32000);
  EXPECT_EQ(ReadHumanSize("32K"), 32768);
  EXPECT_EQ(ReadHumanSize("1.5m"), 1500000);
  EXPECT_EQ(ReadHumanSize("1.5M"), std::nullopt);
  EXPECT_EQ(ReadHumanSize("x"), std::nullopt);
  EXPECT_EQ(ReadHumanSize("99999999999T"), std::nullopt);
}

}  // namespace
}  // namespace foretell
