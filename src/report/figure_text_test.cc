#include "report/figure_text.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace foretell {
namespace {

constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();

TEST(FigureLine, SaysHowEachFigureIsKnown) {
  const struct {
    AnyFigure figure;
    std::string text;
  } cases[] = {
      {AnyFigure::Exact(Unit::kCount, 36), "36"},
      {AnyFigure::Exact(Unit::kParameters, 8'190'735'360),
       "8,190,735,360 parameters"},
      {AnyFigure::Exact(Unit::kBytes, 0), "0 bytes"},
      {AnyFigure::Exact(Unit::kBytes, 1023), "1,023 bytes"},
      {AnyFigure::Exact(Unit::kBytes, 16'381'470'720),
       "16,381,470,720 bytes (15.26 GiB)"},
      {AnyFigure::Exact(Unit::kBytes, kLargest),
       "9,223,372,036,854,775,807 bytes (8,590,000,000 GiB)"},
      {AnyFigure::Exact(Unit::kBytesPerToken, 147'456),
       "147,456 bytes/token (144 KiB/token)"},
      {AnyFigure::Exact(Unit::kFlops, 1'234'567'890'123),
       "1,234,567,890,123 FLOPs (1.235 TFLOPs)"},
      {AnyFigure::Exact(Unit::kSeconds, 7200), "7,200 seconds (2 h)"},
      {AnyFigure::Measured(Unit::kBytes, 12.3e9, 12.2e9, 12.5e9, "nvidia-smi"),
       "11.46 GiB (measured, 11.36 to 11.64 GiB; nvidia-smi)"},
      {AnyFigure::Measured(Unit::kBytes, 3072, 3072, 3072, "the hub"),
       "3,072 bytes (3 KiB) (measured; the hub)"},
      {AnyFigure::Estimated(Unit::kSeconds, 0.01234, 0.011, 0.0141, ""),
       "~12.34 ms (11 to 14.1 ms)"},
      {AnyFigure::Estimated(Unit::kTokens, 1234567, 1.2e6, 1.3e6, ""),
       "~1,235,000 tokens (1,200,000 to 1,300,000 tokens)"},
      {AnyFigure::Unknown(Unit::kBytes, "the adapter's rank"),
       "unknown (missing: the adapter's rank)"},
      {AnyFigure::Exact(Unit::kBytes, 3072)
           .Plus(AnyFigure::Unknown(Unit::kBytes, "the rank"))
           .Plus(AnyFigure::Unknown(Unit::kBytes, "the driver")),
       "at least 3,072 bytes (3 KiB) (missing: the rank; the driver)"},
      {AnyFigure::Exact(Unit::kFlops, kLargest)
           .Plus(AnyFigure::Unknown(Unit::kFlops, "x")),
       "at least 9.223 EFLOPs (missing: x)"},
      {AnyFigure::Unknown(Unit::kBytes, "\x1b[2J"),
       "unknown (missing: \\x1b[2J)"},
  };
  for (const auto& [figure, text] : cases) EXPECT_EQ(FigureLine(figure), text);
}

TEST(FigureLine, LeavesOutAUnitThatTheLabelNames) {
  EXPECT_EQ(FigureLine(AnyFigure::Exact(Unit::kParameters, 12), "Parameters"),
            "12");
  EXPECT_EQ(FigureLine(AnyFigure::Exact(Unit::kFlops, 12), "Forward FLOPs"),
            "12");
  EXPECT_EQ(FigureLine(AnyFigure::Exact(Unit::kBytes, 12), "Weights"),
            "12 bytes");
}

TEST(FigureLine, WhatRoundsUpStandsInTheLargerUnit) {
  EXPECT_EQ(FigureLine(AnyFigure::Exact(Unit::kBytes, 1'048'575)),
            "1,048,575 bytes (1 MiB)");
}

TEST(RealText, HasSixDigits) {
  EXPECT_EQ(RealText(0.25), "0.25");
  EXPECT_EQ(RealText(1.0 / 3), "0.333333");
  EXPECT_EQ(RealText(std::numeric_limits<double>::quiet_NaN()), "nan");
}

}  // namespace
}  // namespace foretell
