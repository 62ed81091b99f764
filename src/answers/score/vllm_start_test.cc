// What rows of `vllm_memory` lack, by their own words.
#include "answers/score/vllm_start.h"

#include <gtest/gtest.h>

#include <string>

namespace foretell {
namespace {

constexpr std::string_view kFields[] = {"model", "launch", "quantization",
                                        "gpu"};

std::string LacksOf(const char* model, const char* launch) {
  ModelConfig config;
  config.root = ConfigValue::Object();
  const ConfigValue row =
      ConfigValue::Object({{"model", ConfigValue::String(model)},
                           {"launch", ConfigValue::String(launch)}});
  const ScoreInput input{.settings = ScoreSettings(row, kFields),
                         .config = &config,
                         .no_config = {},
                         .config_how = {}};
  return ReadRecordedStart(input).lacks;
}

// Without what the program knows of cards a row is read as far as its words.
constexpr char kReadToItsCard[] = "a card that the catalogue knows";

TEST(VllmStart, ChangedEnginesAndSeveralModelsAreLeftOut) {
  EXPECT_EQ(LacksOf("a", "vllm serve a (fork with tiered experts)"),
            "the rules of a changed engine");
  EXPECT_EQ(LacksOf("a or b", "vllm serve a"), "which of several models");
}

TEST(VllmStart, DraftersMustBeKnown) {
  EXPECT_EQ(LacksOf("a", "vllm serve a + built-in MTP n=3"), kReadToItsCard);
  EXPECT_EQ(LacksOf("a", "a compose (TP 2, fp8 KV, MTP)"),
            "how many tokens are drafted");
  EXPECT_EQ(LacksOf("a", "as above without MTP"), kReadToItsCard);
  EXPECT_EQ(LacksOf("x/A-MTP-NVFP4", "vllm serve x/A-MTP-NVFP4"),
            kReadToItsCard);
  EXPECT_EQ(LacksOf("a", "vllm serve a + DFlash external drafter n=7"),
            "a drafter's configuration");
  EXPECT_EQ(LacksOf("a",
                    "vllm serve a --speculative-config "
                    "'{\"method\":\"mtp\",\"num_speculative_tokens\":3}'"),
            kReadToItsCard);
}

}  // namespace
}  // namespace foretell
