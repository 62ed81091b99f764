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
  EXPECT_EQ(Of("paged_adamw_8bit").managed, kLarge + kSmall);
  EXPECT_EQ(Of("paged_adamw_8bit").states, 0);
  EXPECT_EQ(Of("lion_8bit").states, (kLarge + kSmall) / 2);
}

TEST(OptimizerMemory, OthersByTheirDtype) {
  EXPECT_EQ(Of("paged_adamw").managed, 2 * 4 * ((1 << 20) + 1000));
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
