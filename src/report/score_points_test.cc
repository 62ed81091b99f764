#include "report/score_points.h"

#include <gtest/gtest.h>

#include <vector>

namespace foretell {
namespace {

TEST(ScorePoints, AreOneObjectALine) {
  Score score;
  score.line = 3;
  score.id = "an \"id\"\n  with a break";
  score.model = "a/8b";
  score.quantity = "tpot";
  score.groups = {"all", "tpot"};
  score.measured_value = 0.02;
  score.ratio = 1.5;
  score.error = 0.5;
  score.covered = true;
  EXPECT_EQ(
      PointLines("a_set", std::vector{score}),
      "{\"set\": \"a_set\",\"line\": 3,\"id\": \"an \\\"id\\\"\\n  with a "
      "break\",\"model\": \"a/8b\",\"quantity\": \"tpot\",\"groups\": "
      "[\"all\",\"tpot\"],\"measured\": 0.02,\"predicted\": 0.03,"
      "\"error\": 0.5,\"covered\": true}\n");
}

TEST(ScorePoints, WhatWasNotPredictedIsNull) {
  Score score;
  score.measured_value = 2;
  score.error = 1;
  const std::string line = PointLines("a_set", std::vector{score});
  EXPECT_NE(line.find("\"predicted\": null"), std::string::npos);
  EXPECT_NE(line.find("\"covered\": null"), std::string::npos);
}

}  // namespace
}  // namespace foretell
