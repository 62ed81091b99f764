#include "analysis/timing/closed_load.h"

#include <gtest/gtest.h>

namespace foretell {
namespace {

// A step takes a second however many it decodes; a prompt's token a
// hundredth.
StepCosts Costs() {
  StepCosts costs;
  costs.decode = {1, 1, 1, 1, 1};
  costs.prompt_token = 0.01;
  costs.budget = 1000;
  costs.room = 16;
  return costs;
}

TEST(ClosedLoad, OneClientWaitsForItsOwnPrompt) {
  EXPECT_NEAR(
      MeanFirstToken(Costs(), {.clients = 1, .prompt = 100, .answer = 10}), 1,
      1e-9);
}

TEST(ClosedLoad, ALongPromptTakesSeveralSteps) {
  StepCosts costs = Costs();
  costs.prompt_step = 0.5;
  EXPECT_NEAR(
      MeanFirstToken(costs, {.clients = 1, .prompt = 2500, .answer = 4}),
      25 + 3 * 0.5, 1e-9);
}

TEST(ClosedLoad, OneWaveIsABurst) {
  // A step holds one prompt: the k-th waits for k of them, and in steps that
  // mix for those that decode beside it.
  StepCosts costs = Costs();
  costs.budget = 100;
  costs.is_mixed = false;
  const ClosedLoad load = {
      .clients = 4, .prompt = 100, .answer = 50, .waves = 1};
  EXPECT_NEAR(MeanFirstToken(costs, load), (1 + 2 + 3 + 4) / 4.0, 1e-9);
  costs.is_mixed = true;
  EXPECT_GT(MeanFirstToken(costs, load), 2.5);
}

TEST(ClosedLoad, EqualLengthsStayTogetherWherePromptsComeFirst) {
  StepCosts costs = Costs();
  costs.budget = 100;
  costs.is_mixed = false;
  ClosedLoad load = {.clients = 8, .prompt = 100, .answer = 100};
  const double together = MeanFirstToken(costs, load);
  EXPECT_NEAR(together, 4.5, 1e-9);
  load.shortest = 0.5;
  EXPECT_LT(MeanFirstToken(costs, load), together / 1.5);
}

TEST(ClosedLoad, RequestsBeyondTheRoomWaitForAnAnswer) {
  StepCosts costs = Costs();
  const ClosedLoad load = {.clients = 8, .prompt = 100, .answer = 64};
  const double fits = MeanFirstToken(costs, load);
  costs.room = 4;
  EXPECT_GT(MeanFirstToken(costs, load), fits + 20);
}

TEST(ClosedLoad, AMillionClientsWaitInLine) {
  StepCosts costs = Costs();
  ClosedLoad load = {.clients = 4096, .prompt = 100, .answer = 2, .waves = 1};
  const double most = MeanFirstToken(costs, load);
  load.clients = 1 << 20;
  EXPECT_NEAR(MeanFirstToken(costs, load) / most, 256, 3);
}

TEST(ClosedLoad, ASchedulerThatLooksSeldomLetsThemWait) {
  StepCosts costs = Costs();
  const ClosedLoad load = {
      .clients = 4, .prompt = 100, .answer = 64, .shortest = 0.5};
  const double often = MeanFirstToken(costs, load);
  costs.poll = 10;
  const double seldom = MeanFirstToken(costs, load);
  EXPECT_GT(seldom, often + 1);
  EXPECT_LT(seldom, often + 10);
}

}  // namespace
}  // namespace foretell
