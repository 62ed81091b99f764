#include "answers/score/score_statistics.h"

#include <gtest/gtest.h>

namespace foretell {
namespace {

Score Relative(double error, const std::string& family = "") {
  Score score;
  score.groups = {"all"};
  score.family = family;
  score.comparison = Comparison::kRelative;
  score.error = error;
  score.ratio = 1 + error;
  score.equal = error == 0;
  return score;
}

TEST(QuantileOf, InterpolatesBetweenRanks) {
  EXPECT_DOUBLE_EQ(QuantileOf({3, 1, 2}, 0.5), 2);
  EXPECT_DOUBLE_EQ(QuantileOf({1, 2}, 0.5), 1.5);
  EXPECT_DOUBLE_EQ(QuantileOf({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 0.95), 9.5);
  EXPECT_DOUBLE_EQ(QuantileOf({4}, 0.9), 4);
}

TEST(GroupsOf, AMedianIsOneOfTheGroupsMedians) {
  // Three rows of one sweep count once against two rows of their own.
  const std::vector<Score> scores = {
      Relative(0.9, "sweep"), Relative(0.8, "sweep"), Relative(0.7, "sweep"),
      Relative(0.1, "b"), Relative(0.2, "c")};
  const ScoreFigures all = GroupsOf(scores).at("all");
  EXPECT_DOUBLE_EQ(all.at("median"), 0.2);
  EXPECT_DOUBLE_EQ(all.at("n"), 5);
}

TEST(GroupsOf, RowsWithoutAGroupStandAlone) {
  std::vector<Score> scores = {Relative(0.4, "sweep"), Relative(0.4, "sweep"),
                               Relative(0.4, "sweep"), Relative(0.0),
                               Relative(0.1)};
  scores[3].line = 7;
  scores[4].line = 8;
  EXPECT_DOUBLE_EQ(GroupsOf(scores).at("all").at("median"), 0.1);
}

TEST(GroupsOf, SharesAndBiasCountWhatTheySpeakOf) {
  std::vector<Score> scores = {Relative(0), Relative(0.004), Relative(0.015),
                               Relative(1)};
  scores[3].ratio = std::nullopt;  // nothing predicted
  scores[1].covered = true;
  scores[2].covered = false;
  Score text;
  text.groups = {"all", "told"};
  text.comparison = Comparison::kText;
  text.equal = true;
  scores.push_back(text);
  const ScoreGroups groups = GroupsOf(scores);
  const ScoreFigures& all = groups.at("all");
  EXPECT_DOUBLE_EQ(all.at("share_equal"), 0.4);
  EXPECT_DOUBLE_EQ(all.at("share_0_5pct"), 0.5);
  EXPECT_DOUBLE_EQ(all.at("share_2pct"), 0.75);
  EXPECT_DOUBLE_EQ(all.at("coverage90"), 0.5);
  EXPECT_NEAR(all.at("bias"), 1.0063, 1e-4);
  const ScoreFigures& told = groups.at("told");
  EXPECT_EQ(told.size(), 2u);
  EXPECT_DOUBLE_EQ(told.at("share_equal"), 1);
}

TEST(GroupsOf, NothingIsNoFigure) {
  const ScoreFigures all = GroupsOf({}).at("all");
  EXPECT_EQ(all, (ScoreFigures{{"n", 0}}));
}

}  // namespace
}  // namespace foretell
