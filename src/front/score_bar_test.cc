#include "front/score_bar.h"

#include <gtest/gtest.h>

namespace foretell {
namespace {

TEST(ReadScoreBar, ReadsBothSides) {
  const auto bar = ReadScoreBar("by_task.sft.median<=0.05").bar;
  ASSERT_TRUE(bar);
  EXPECT_EQ(bar->group, "by_task.sft");
  EXPECT_EQ(bar->key, "median");
  EXPECT_FALSE(bar->at_least);
  EXPECT_DOUBLE_EQ(bar->limit, 0.05);
  const auto share = ReadScoreBar("all.share_2pct>=95%").bar;
  ASSERT_TRUE(share);
  EXPECT_TRUE(share->at_least);
  EXPECT_DOUBLE_EQ(share->limit, 0.95);
}

TEST(ReadScoreBar, SaysWhatIsWrong) {
  EXPECT_EQ(ReadScoreBar("all.median").what, "compares nothing");
  EXPECT_EQ(ReadScoreBar("median<=1").what, "names no group");
  EXPECT_EQ(ReadScoreBar("all.mean<=1").what,
            "\"mean\" is no figure of a group");
  for (const char* text : {"all.median<=", "all.median<=x", "all.median<=nan",
                           "all.median<=1 ", "all.median<=1%%"}) {
    EXPECT_EQ(ReadScoreBar(text).what, "its limit is no number") << text;
  }
}

}  // namespace
}  // namespace foretell
