#include "answers/served_job.h"

#include <gtest/gtest.h>

#include <string>
#include <variant>

#include "answers/llama_job.h"
#include "answers/served_format.h"

namespace foretell {
namespace {

TEST(EngineNamed, IsFoundByItsWordsAndVersion) {
  EXPECT_EQ(EngineNamed("vLLM", "0.19.0"), "vllm");
  EXPECT_EQ(EngineNamed("vLLM", "0.4.2"), "vllm_early");
  EXPECT_EQ(EngineNamed("vLLM", "0.6.3"), "vllm_06");
  EXPECT_EQ(EngineNamed("vLLM", "October 2023 commits"), "vllm_2023");
  EXPECT_EQ(EngineNamed("vLLM (ROCm)", "0.9.1"), "vllm_rocm");
  EXPECT_EQ(EngineNamed("TensorRT-LLM", "0.9.0"), "trtllm");
  EXPECT_EQ(EngineNamed("TensorRT-LLM (PyTorch backend)", ""), "trtllm_pt");
  EXPECT_EQ(EngineNamed("Transformers NeuronX", ""), "neuron");
  EXPECT_EQ(EngineNamed("Transformers", "4.51.3"), "hf");
  EXPECT_EQ(EngineNamed("something else", ""), "eager");
  for (const char* words : {"vLLM", "SGLang", "Transformers", "TinyChat 2.0"}) {
    EXPECT_NE(FindServedEngine(EngineNamed(words, "")), nullptr) << words;
  }
}

StoredAs Stored(const std::string& precision, std::string_view cards,
                bool has_experts = false) {
  return StoredAsOf({.precision = precision,
                     .config = nullptr,
                     .cards = cards,
                     .engine = "vllm",
                     .has_experts = has_experts});
}

TEST(StoredAs, FollowsTheWords) {
  EXPECT_EQ(Stored("", "hopper").kind, WeightKind::kPlain);
  EXPECT_EQ(Stored("bf16", "hopper").attention.bytes, 2);
  EXPECT_EQ(Stored("fp8", "hopper").attention.dtype, "fp8");
  // Ampere multiplies fp8 weights in 16 bits.
  EXPECT_EQ(Stored("fp8", "ampere").attention.dtype, "bf16");
  EXPECT_EQ(Stored("GPTQ-Int8", "ampere").kind, WeightKind::kOnly8);
  EXPECT_EQ(Stored("int4 AWQ g128", "ada").kind, WeightKind::kOnly4);
  EXPECT_DOUBLE_EQ(Stored("EXL2 4.0bpw", "ada").mlp.bytes, 0.5);
  // Attention of a model of experts stays as it is.
  EXPECT_EQ(Stored("nvfp4", "blackwell", true).attention.bytes, 2);
  EXPECT_LT(Stored("nvfp4", "blackwell", false).attention.bytes, 1);
  EXPECT_EQ(Stored("mxfp4", "hopper", true).kind, WeightKind::kExperts);
}

TEST(CacheBytes, AreWhatIsSaid) {
  EXPECT_EQ(CacheBytesOf("fp8", "vllm", WeightKind::kPlain), 1);
  EXPECT_EQ(CacheBytesOf("bf16", "sglang", WeightKind::kEight), 2);
  EXPECT_EQ(CacheBytesOf("auto", "vllm", WeightKind::kEight), 2);
}

TEST(SpeedFigure, IsWiderBeyondTheMeasured) {
  const auto width = [](Reach reach) {
    const AnyFigure figure =
        SpeedFigure(Unit::kSeconds, 1, ServedQuantity::kToken, reach);
    return *figure.high() / *figure.low();
  };
  EXPECT_GT(width(Reach::kNear), width(Reach::kInside));
  EXPECT_GT(width(Reach::kOutside), width(Reach::kNear));
}

TEST(ServedSetting, SaysWhatIsMissing) {
  const auto found = SettingOf({});
  ASSERT_TRUE(std::holds_alternative<std::string>(found));
  EXPECT_EQ(std::get<std::string>(found), "the card");
}

TEST(BitsOfRecipe, AreKnownOrNothing) {
  EXPECT_EQ(BitsOfRecipe("Q8_0"), 8.5);
  EXPECT_EQ(BitsOfRecipe("UD-Q4_K_XL"), 4.9);
  EXPECT_EQ(BitsOfRecipe("MXFP4 MoE"), 4.3);
  EXPECT_DOUBLE_EQ(*BitsOfRecipe("Q4_K_P"), 4.8);
  EXPECT_EQ(BitsOfRecipe(""), std::nullopt);
  EXPECT_EQ(BitsOfRecipe("AVQ2"), std::nullopt);
}

}  // namespace
}  // namespace foretell
