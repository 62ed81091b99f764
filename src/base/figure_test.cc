#include "base/figure.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/check.h"

namespace foretell {
namespace {

constexpr int64_t kTop = std::numeric_limits<int64_t>::max();

TEST(Figure, ExactPlusExactIsExact) {
  const Bytes sum = Bytes::Exact(3) + Bytes::Exact(4);
  EXPECT_TRUE(sum.is_exact());
  EXPECT_EQ(sum.exact(), 7);
  EXPECT_EQ(sum.ToString(), "7 bytes");
}

TEST(Figure, TheWeakestProvenanceWins) {
  const Bytes exact = Bytes::Exact(100);
  const Bytes measured = Bytes::Measured(10, 9, 12, "a device");
  const Bytes estimated = Bytes::Estimated(10, 5, 20, "a fit");
  EXPECT_EQ((exact + measured).provenance(), Provenance::kMeasured);
  EXPECT_EQ((exact + estimated).provenance(), Provenance::kEstimated);
  EXPECT_EQ((measured + estimated).provenance(), Provenance::kEstimated);
}

TEST(Figure, IntervalsAddEndToEnd) {
  const Bytes sum = Bytes::Exact(100) + Bytes::Estimated(10, 5, 20, "a fit") +
                    Bytes::Measured(10, 9, 12, "a device");
  EXPECT_EQ(sum.any().value(), 120);
  EXPECT_EQ(sum.any().low(), 114);
  EXPECT_EQ(sum.any().high(), 132);
}

TEST(Figure, ASumWithAnUnknownTermKeepsItsKnownPart) {
  const Bytes sum = Bytes::Exact(3072) + Bytes::Unknown("the rank");
  EXPECT_TRUE(sum.is_unknown());
  EXPECT_EQ(sum.any().value(), 3072);
  EXPECT_EQ(sum.any().high(), std::nullopt);
  EXPECT_EQ(sum.ToString(), "at least 3,072 bytes (unknown: the rank)");
}

TEST(Figure, AnUnknownIsNeverZero) {
  const Bytes unknown = Bytes::Unknown("the rank");
  EXPECT_EQ(unknown.any().value(), std::nullopt);
  EXPECT_EQ(unknown.ToString(), "unknown (the rank)");
  EXPECT_EQ((unknown * 3).any().value(), std::nullopt);
  EXPECT_THROW(unknown.exact(), InternalError);
}

TEST(Figure, EveryMissingTermIsNamed) {
  const Bytes sum = Bytes::Unknown("the rank") + Bytes::Unknown("the card");
  EXPECT_EQ(sum.any().missing(),
            (std::vector<std::string>{"the rank", "the card"}));
}

TEST(Figure, PastTheLargestIntegerIsUnknown) {
  EXPECT_TRUE((Bytes::Exact(kTop) + Bytes::Exact(1)).is_unknown());
  EXPECT_TRUE((Bytes::Exact(kTop) * 2).is_unknown());
  EXPECT_TRUE(Bytes::Exact(std::optional<int64_t>()).is_unknown());
  EXPECT_EQ((Bytes::Exact(kTop) * 1).exact(), kTop);
}

TEST(Figure, TimesScalesTheInterval) {
  const Seconds time = Seconds::Estimated(2, 1, 4, "a fit") * 3;
  EXPECT_EQ(time.any().value(), 6);
  EXPECT_EQ(time.any().low(), 3);
  EXPECT_EQ(time.any().high(), 12);
  EXPECT_EQ(time.ToString(), "6 seconds (estimated, 3 to 12)");
}

TEST(Figure, UnitsOfASumMustAgree) {
  EXPECT_THROW(AnyFigure::Exact(Unit::kBytes, int64_t{1})
                   .Plus(AnyFigure::Exact(Unit::kFlops, int64_t{1})),
               InternalError);
}

TEST(Figure, AnIntervalHoldsItsValue) {
  EXPECT_THROW(Bytes::Estimated(1, 2, 3, "a fit"), InternalError);
}

TEST(WithSeparators, GroupsByThree) {
  EXPECT_EQ(WithSeparators(0), "0");
  EXPECT_EQ(WithSeparators(999), "999");
  EXPECT_EQ(WithSeparators(1000), "1,000");
  EXPECT_EQ(WithSeparators(-1234567), "-1,234,567");
  EXPECT_EQ(WithSeparators(kTop), "9,223,372,036,854,775,807");
}

}  // namespace
}  // namespace foretell
