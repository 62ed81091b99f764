#include "analysis/timing/training_phases.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace foretell {
namespace {

// 32 layers of 4096 on eight cards of a machine, 989 TFLOPS each.
TrainedJob Job() {
  TrainedJob job;
  job.shape = ShapeOfPlainDecoder(
      {.layers = 32, .hidden = 4096, .query_heads = 32}, 128000);
  job.shape.stored = job.shape.Active();
  job.cards = TrainedCards::kHopper;
  job.peak_half = 989e12;
  job.peak = job.peak_half;
  job.bandwidth = 3.35e12;
  job.link = 450e9;
  job.network = 50e9;
  job.loop = TrainedLoop::kCompiled;
  job.sequences = 2;
  job.sequence = 4096;
  job.micro_steps = 8;
  job.sharing = TrainedSharing::kParameters;
  job.data = 8;
  job.cards_all = 8;
  return job;
}

TrainedJob WithExperts() {
  TrainedJob job = Job();
  job.shape.experts = job.shape.mlp * 8;
  job.shape.mlp = 0;
  job.shape.expert_layers = 32;
  job.shape.expert_count = 64;
  job.shape.experts_per_token = 4;
  return job;
}

double Total(const TrainedJob& job) {
  return TrainedStepOf(job, FittedTraining()).total;
}

TEST(TrainedStep, PhasesAndPartsSumToTheStep) {
  for (const TrainedJob& job : {Job(), WithExperts()}) {
    const TrainedStep step = TrainedStepOf(job, FittedTraining());
    const double constant = FittedTraining()[TrainingConstant::kStep];
    EXPECT_NEAR(step.forward + step.backward + step.exposed + step.bubble +
                    step.optimizer + constant,
                step.total, 1e-9);
    EXPECT_NEAR(
        step.arithmetic + step.memory + step.communication + step.launches,
        step.total, 1e-9);
    EXPECT_GE(step.launches, 0);
  }
}

TEST(TrainedStep, RateIsTheTokensOverTheTime) {
  const TrainedStep step = TrainedStepOf(Job(), FittedTraining());
  EXPECT_NEAR(step.tokens_a_second * step.total, 2 * 4096 * 8, 1e-3);
}

TEST(TrainedStep, NeverPassesThePeak) {
  for (const double sequence : {128.0, 4096.0, 131072.0}) {
    TrainedJob job = Job();
    job.sequence = sequence;
    const TrainedStep step = TrainedStepOf(job, FittedTraining());
    const double share =
        step.tokens_a_second * ModelFlopsOfToken(job, true) / job.peak;
    EXPECT_GT(share, 0) << sequence;
    EXPECT_LT(share, 1) << sequence;
  }
}

TEST(TrainedStep, RecomputingAddsAForward) {
  TrainedJob job = Job();
  const TrainedStep without = TrainedStepOf(job, FittedTraining());
  job.recomputed = 1;
  const TrainedStep with = TrainedStepOf(job, FittedTraining());
  EXPECT_NEAR(with.recompute, without.forward, without.forward * 1e-9);
  EXPECT_GT(with.total, without.total);
}

TEST(TrainedStep, UnstatedRecomputingLiesBetween) {
  TrainedJob job = Job();
  const double none = Total(job);
  job.recomputed_stated = false;
  const double unstated = Total(job);
  job.recomputed_stated = true;
  job.recomputed = 1;
  EXPECT_GT(unstated, none);
  EXPECT_LT(unstated, Total(job));
}

TEST(TrainedStep, BubbleShrinksWithMicroStepsAndChunks) {
  TrainedJob job = Job();
  job.pipeline = 8;
  job.data = 1;
  const auto share = [](const TrainedJob& of) {
    const TrainedStep step = TrainedStepOf(of, FittedTraining());
    return step.bubble / step.total;
  };
  const double few = share(job);
  EXPECT_GT(few, 0);
  job.micro_steps = 64;
  EXPECT_LT(share(job), few);
  job.micro_steps = 8;
  job.chunks = 4;
  EXPECT_LT(share(job), few);
}

TEST(TrainedStep, FasterResourcesNeverSlowIt) {
  TrainedJob job = WithExperts();
  job.tensor = 2;
  job.experts_over = 4;
  job.context = 2;
  job.data = 2;
  const double before = Total(job);
  for (double TrainedJob::*resource :
       {&TrainedJob::peak_half, &TrainedJob::bandwidth, &TrainedJob::link,
        &TrainedJob::network}) {
    TrainedJob faster = job;
    faster.*resource *= 2;
    if (resource == &TrainedJob::peak_half) faster.peak *= 2;
    EXPECT_LE(Total(faster), before * (1 + 1e-9));
  }
}

TEST(TrainedStep, ASlowNetworkShowsBeyondOneMachine) {
  TrainedJob job = Job();
  job.cards_all = 64;
  job.data = 64;
  const double fast = Total(job);
  job.network = 1e9;
  EXPECT_GT(Total(job), fast * 1.2);
  TrainedJob one = Job();
  const double within = Total(one);
  one.network = 1e9;
  EXPECT_EQ(Total(one), within);
}

TEST(TrainedStep, FrozenWeightsTakeLess) {
  TrainedJob job = Job();
  const double full = Total(job);
  job.backward = 1;
  job.trained_share = 0.01;
  EXPECT_LT(Total(job), full * 0.85);
  job.stored_bits = 4;
  const double packed = Total(job);
  job.stored_bits = 16;
  EXPECT_GT(packed, Total(job));
}

TEST(TrainedStep, EightBitsAreFasterThanSixteenButNotTwice) {
  TrainedJob job = Job();
  const double half = Total(job);
  job.format = TrainedFormat::kFp8;
  job.peak *= 2;
  EXPECT_LT(Total(job), half);
  EXPECT_GT(Total(job), half / 2);
}

TEST(ModelFlops, AreSixAWeightAndAttention) {
  const TrainedJob job = Job();
  const double weights = 6 * job.shape.Active();
  const double scores = 12 * 32.0 * 4096 * 4096;
  EXPECT_NEAR(ModelFlopsOfToken(job, false), weights + scores, weights * 1e-9);
  EXPECT_NEAR(ModelFlopsOfToken(job, true), weights + scores / 2,
              weights * 1e-9);
}

TEST(Constants, HaveNamesOfTheirOwnAndArePositive) {
  std::set<std::string> names;
  for (size_t i = 0; i < kTrainingConstants; ++i) {
    const auto which = static_cast<TrainingConstant>(i);
    names.emplace(NameOf(which));
    EXPECT_GT(FittedTraining()[which], 0) << NameOf(which);
  }
  EXPECT_EQ(names.size(), kTrainingConstants);
  EXPECT_GT(FittedTrainingSpread().stated, 0);
  EXPECT_GT(FittedTrainingSpread().unstated, 0);
  EXPECT_GT(FittedTrainingSpread().experts, 0);
}

}  // namespace
}  // namespace foretell
