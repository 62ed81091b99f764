#include "answers/calibration.h"

#include <gtest/gtest.h>

#include <cmath>

namespace foretell {
namespace {

RunFacts Facts(const char* model = "a/8b", const char* card = "L40S") {
  return {.command = "speed",
          .model = model,
          .card = card,
          .manner = "vllm",
          .parameters = 8e9,
          .cards = 1};
}

PredictedFigure Token(double ms, double factor = 1.5) {
  return {"tpot_ms", "",
          AnyFigure::Estimated(Unit::kSeconds, ms / 1e3, ms / 1e3 / factor,
                               ms / 1e3 * factor, "")};
}

KnownRun Ran(const RunFacts& facts, double measured, double predicted) {
  KnownRun out;
  out.run.id = 7;
  out.run.facts = facts;
  out.run.figures = {{"tpot_ms", measured}};
  out.predicted = {Token(predicted)};
  return out;
}

double Corrected(const std::vector<KnownRun>& runs) {
  const auto out = CalibratedBy(runs, {Facts(), {Token(20)}});
  return out.empty() ? 0 : *out.front().calibrated.value() * 1e3;
}

TEST(Calibration, IsNothingWithoutComparableRuns) {
  EXPECT_EQ(Corrected({}), 0);
  EXPECT_EQ(Corrected({Ran(Facts("a/8b", "H100"), 30, 20)}), 0);
  RunFacts other = Facts("b/70b");
  other.parameters = 70e9;
  EXPECT_EQ(Corrected({Ran(other, 30, 20)}), 0);
  other = Facts();
  other.cards = 8;
  EXPECT_EQ(Corrected({Ran(other, 30, 20)}), 0);
  other = Facts();
  other.manner = "sglang";
  EXPECT_EQ(Corrected({Ran(other, 30, 20)}), 0);
}

TEST(Calibration, MovesTowardsTheRunAndNotPastIt) {
  const double same = Corrected({Ran(Facts(), 30, 20)});
  EXPECT_GT(same, 29);
  EXPECT_LT(same, 30);
  const double load = Corrected({Ran(Facts(), 15, 10)});
  EXPECT_GT(load, 22);
  EXPECT_LT(load, same);
  const double other = Corrected({Ran(Facts("b/7b"), 30, 20)});
  EXPECT_GT(other, 20.5);
  EXPECT_LT(other, load);
}

TEST(Calibration, SeveralRunsSayMoreThanOne) {
  const KnownRun other = Ran(Facts("b/7b"), 30, 20);
  EXPECT_GT(Corrected({other, other, Ran(Facts("c/9b"), 30, 20)}),
            Corrected({other}));
}

TEST(Calibration, TheIntervalShrinksButNeverBelowARepeatOfTheRun) {
  const auto one =
      CalibratedBy({Ran(Facts(), 20, 20)}, {Facts(), {Token(20)}}).front();
  const AnyFigure& before = one.predicted;
  const AnyFigure& after = one.calibrated;
  EXPECT_LT(*after.high() / *after.low(), *before.high() / *before.low());
  std::vector<KnownRun> many(40, Ran(Facts(), 20, 20));
  const auto last = CalibratedBy(many, {Facts(), {Token(20)}}).front();
  EXPECT_GT(std::log(*last.calibrated.high() / *last.calibrated.low()),
            2 * 1.6 * 0.03 - 1e-9);
}

TEST(Calibration, TheNearestRunIsNamed) {
  const auto out =
      CalibratedBy({Ran(Facts(), 21.5, 20), Ran(Facts("b/7b"), 30, 20)},
                   {Facts(), {Token(20)}});
  ASSERT_EQ(out.size(), 1U);
  EXPECT_EQ(out.front().runs, 2);
  EXPECT_EQ(out.front().nearest, "run 7, a/8b: 21.5 ms, predicted 20");
}

TEST(Calibration, LeavesAnExactFigureAlone) {
  PredictedFigure exact = {"allocated_gib", "",
                           AnyFigure::Exact(Unit::kBytes, int64_t{1} << 30)};
  KnownRun run = Ran(Facts(), 1, 1);
  run.run.figures = {{"allocated_gib", 2}};
  run.predicted = {exact};
  EXPECT_TRUE(CalibratedBy({run}, {Facts(), {exact}}).empty());
}

}  // namespace
}  // namespace foretell
