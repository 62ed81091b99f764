#include "report/scatter_svg.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace foretell {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

ScorePanel Panel(std::vector<ScorePoint> points) {
  return {.set = "a_set",
          .quantity = "tokens <i>",
          .median_error = 0.042,
          .points = std::move(points)};
}

int CountOf(const std::string& text, const std::string& part) {
  int count = 0;
  for (size_t at = text.find(part); at != std::string::npos;
       at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

TEST(ScatterSvg, DrawsEachKindOfPointInItsOwnStyle) {
  const std::string svg = ScatterSvg(
      std::vector{Panel({{1, 2, true}, {10, 9, false}, {100, 90, {}}})}, "T");
  EXPECT_THAT(svg, HasSubstr("a_set: 3 points, median 4.2 % off"));
  for (const char* kind : {"held", "missed", "plain"}) {
    EXPECT_EQ(CountOf(svg, std::string("<path class=\"") + kind + "\" d="), 1)
        << kind;
  }
}

TEST(ScatterSvg, PointsThatFallTogetherAreDrawnOnce) {
  const std::string svg = ScatterSvg(
      std::vector{Panel({{1, 1, true}, {1, 1, true}, {100, 90, true}})}, "T");
  // Two in the plot, one for each kind in the legend.
  EXPECT_EQ(CountOf(svg, "h0"), 2 + 3);
}

TEST(ScatterSvg, EscapesNames) {
  const std::string svg =
      ScatterSvg(std::vector{Panel({{1, 1, true}})}, "<script>");
  EXPECT_THAT(svg, HasSubstr("tokens &lt;i&gt;"));
  EXPECT_THAT(svg, Not(HasSubstr("<script>")));
}

TEST(ScatterSvg, OneValueOrNoneIsAPictureToo) {
  EXPECT_THAT(ScatterSvg(std::vector{Panel({{5, 5, true}, {5, 5, true}})}, "T"),
              Not(HasSubstr("nan")));
  EXPECT_THAT(ScatterSvg({}, "T"), HasSubstr("</svg>"));
}

TEST(ScorePanels, LeaveOutWhatHasNoPlaceInAPicture) {
  std::vector<Score> scores;
  for (int i = 0; i < 10; ++i) {
    Score score;
    score.quantity = "tpot";
    score.measured_value = 2;
    if (i > 0) score.ratio = 1.5;
    score.error = 0.5;
    scores.push_back(score);
  }
  Score rare;
  rare.quantity = "rare";
  rare.ratio = 1;
  rare.measured_value = 1;
  scores.push_back(rare);
  const auto panels = PanelsOf("a_set", scores);
  ASSERT_EQ(panels.size(), 1U);
  EXPECT_EQ(panels[0].points.size(), 9U);
  EXPECT_EQ(panels[0].points[0].predicted, 3);
  EXPECT_EQ(panels[0].median_error, 0.5);
}

}  // namespace
}  // namespace foretell
