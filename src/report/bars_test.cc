#include "report/bars.h"

#include <gtest/gtest.h>

#include "base/figure.h"

namespace foretell {
namespace {

TEST(SharesOf, AddUpToOne) {
  const auto shares =
      SharesOf({{"a", Bytes::Exact(3)}, {"b", Bytes::Exact(1)}});
  ASSERT_TRUE(shares.has_value());
  EXPECT_EQ(*shares, (std::vector<double>{0.75, 0.25}));
}

TEST(SharesOf, AnIncompleteSumHasNone) {
  EXPECT_FALSE(SharesOf({{"a", Bytes::Exact(3)}, {"b", Bytes::Unknown("x")}}));
  EXPECT_FALSE(SharesOf({{"a", Bytes::Exact(0)}}));
  EXPECT_FALSE(SharesOf({}));
}

TEST(ShareText, NeverRoundsSomethingToNothing) {
  EXPECT_EQ(ShareText(0), "0.0 %");
  EXPECT_EQ(ShareText(0.0001), "<0.1 %");
  EXPECT_EQ(ShareText(0.4612), "46.1 %");
  EXPECT_EQ(ShareText(1), "100.0 %");
}

TEST(BarText, DrawsEighths) {
  EXPECT_EQ(BarText(1, 4), "████");
  EXPECT_EQ(BarText(0.5, 4), "██");
  EXPECT_EQ(BarText(0.40625, 4), "█▋");
  EXPECT_EQ(BarText(0.0001, 4), "▏");
  EXPECT_EQ(BarText(0, 4), "");
}

}  // namespace
}  // namespace foretell
