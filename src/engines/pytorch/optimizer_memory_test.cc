#include "engines/pytorch/optimizer_memory.h"

#include <gtest/gtest.h>

#include <array>

namespace foretell {
namespace {

constexpr std::array<TrainedTensor, 2> kTensors = {{
    {1 << 20, DType::kBFloat16, true},
    {1000, DType::kBFloat16, false},
}};

OptimizerMemory Of(std::string_view name) {
  const auto memory = OptimizerMemoryOf(name, kTensors);
  EXPECT_TRUE(memory.has_value()) << name;
  return memory.value_or(OptimizerMemory());
}

TEST(OptimizerMemory, BlockwiseMomentsOfLargeTensorsOnly) {
  constexpr int64_t kLarge = 2 * ((1 << 20) + (1 << 20) / 256 * 4);
  constexpr int64_t kSmall = 2 * 1000 * 4;
  EXPECT_EQ(Of("adamw_8bit").states, kLarge + kSmall);
  EXPECT_EQ(Of("adamw_8bit").managed, 0);
  EXPECT_EQ(Of("lion_8bit").states, (kLarge + kSmall) / 2);
  EXPECT_EQ(Of("ademamix_8bit").states, (kLarge + kSmall) / 2 * 3);
}

// Small tensors and all scales stay on the card.
TEST(OptimizerMemory, PagedAreTheCodesOfLargeTensors) {
  EXPECT_EQ(Of("paged_adamw_8bit").managed, 2 * (1 << 20));
  EXPECT_EQ(Of("paged_adamw_8bit").states,
            2 * ((1 << 20) / 256 * 4 + 1000 * 4));
  EXPECT_EQ(Of("paged_adamw").managed, 2 * 4 * (1 << 20));
  EXPECT_EQ(Of("paged_adamw").states, 2 * 4 * 1000);
  EXPECT_EQ(Of("paged_lion_8bit").managed, 1 << 20);
}

TEST(OptimizerMemory, CountsTensorsThatAreAlike) {
  std::array<TrainedTensor, 1> three = {kTensors[0]};
  three[0].count = 3;
  const std::array<TrainedTensor, 3> each = {kTensors[0], kTensors[0],
                                             kTensors[0]};
  for (const std::string_view name : OptimizersByRule()) {
    const auto counted = OptimizerMemoryOf(name, three);
    const auto listed = OptimizerMemoryOf(name, each);
    ASSERT_TRUE(counted && listed) << name;
    EXPECT_EQ(counted->states, listed->states) << name;
    EXPECT_EQ(counted->managed, listed->managed) << name;
    EXPECT_EQ(counted->temporaries, listed->temporaries) << name;
  }
}

TEST(OptimizerMemory, GaloreKeepsMomentsOfFewDimensions) {
  constexpr int64_t kRows = 4096;
  constexpr int64_t kColumns = 1024;
  const std::array<TrainedTensor, 1> matrix = {
      {{kRows * kColumns, DType::kBFloat16, true, 1, kColumns}}};
  const auto memory = OptimizerMemoryOf("galore_adamw", matrix);
  ASSERT_TRUE(memory.has_value());
  EXPECT_EQ(memory->states, (2 * kRows + kColumns) * 128 * 2);
  EXPECT_GT(memory->temporaries, kRows * kColumns * 4);
}

TEST(OptimizerMemory, OthersByTheirDtype) {
  EXPECT_EQ(Of("adamw_bnb").states, 2 * 4 * ((1 << 20) + 1000));
  EXPECT_EQ(Of("lion").states, 2 * ((1 << 20) + 1000));
  EXPECT_EQ(Of("sgd_momentum").states, 2 * ((1 << 20) + 1000));
  EXPECT_EQ(Of("adamw_torchao_4bit").states,
            2 * ((1 << 19) + (1 << 20) / 128 * 4) + 2 * 2 * 1000);
  EXPECT_EQ(Of("muon").states, 2 * (1 << 20) + 2 * 2 * 1000);
  EXPECT_GT(Of("muon").temporaries, 0);
}

TEST(OptimizerMemory, NothingForAnUnknownName) {
  EXPECT_FALSE(OptimizerMemoryOf("adamw_fused", kTensors).has_value());
  for (const std::string_view name : OptimizersByRule()) {
    EXPECT_TRUE(OptimizerMemoryOf(name, kTensors).has_value()) << name;
  }
}

}  // namespace
}  // namespace foretell
