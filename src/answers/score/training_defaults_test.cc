#include "answers/score/training_defaults.h"

#include <gtest/gtest.h>

namespace foretell {
namespace {

TEST(TransformersAt, IsTheNewestSixWeeksBefore) {
  EXPECT_EQ(TransformersAt("2024-12-03"), "4.45");
  EXPECT_EQ(TransformersAt("2024-07-24"), "4.41");
  // A month alone is its end.
  EXPECT_EQ(TransformersAt("2024-07"), "4.41");
  EXPECT_EQ(TransformersAt("2023-01-01"), "4.27");
}

TEST(TransformersAt, LeavesTheFifthMajorVersionToItsNewest) {
  EXPECT_EQ(TransformersAt("2026-06-10"), "");
}

TEST(TransformersAt, KnowsNoOtherTexts) {
  EXPECT_EQ(TransformersAt(""), "");
  EXPECT_EQ(TransformersAt("soon, maybe"), "");
  EXPECT_EQ(TransformersAt("2024"), "");
}

TEST(SizesOfTool, AreOneWhereEverySampleIsPadded) {
  EXPECT_EQ(SizesOfTool("Qwen finetune.py (HF Trainer)", "2023-11-30"),
            BatchSizes::kOne);
  EXPECT_EQ(SizesOfTool("LLaMA-Factory", "2024-05-01"), BatchSizes::kMany);
}

}  // namespace
}  // namespace foretell
