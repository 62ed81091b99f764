#include "analysis/timing/serving_phases.h"

#include <gtest/gtest.h>

namespace foretell {
namespace {

// 32 layers of 4096 on a card of 3.35 TB/s.
ServedJob Job() {
  ServedJob job;
  job.shape = ShapeOfPlainDecoder(
      {.layers = 32, .hidden = 4096, .query_heads = 32}, 128000);
  job.card = *FindServedCards("hopper");
  job.engine = *FindServedEngine("vllm");
  job.bandwidth = 3.35e12;
  job.peak16 = 989e12;
  for (ServedFormat* format : {&job.attention, &job.mlp, &job.experts}) {
    *format = {.bytes = 2, .peak = 989e12};
  }
  job.link = 450e9;
  job.has_nvlink = true;
  job.memory = 85e9;
  job.host_link = 63e9;
  return job;
}

ServedJob WithExperts() {
  ServedJob job = Job();
  job.shape.experts = job.shape.mlp * 8;
  job.shape.mlp = 0;
  job.shape.expert_layers = 32;
  job.shape.expert_count = 64;
  job.shape.experts_per_token = 4;
  return job;
}

TEST(Decode, GrowsWithBatchAndContext) {
  const ServedJob job = Job();
  double before = 0;
  for (const double batch : {1.0, 4.0, 16.0, 64.0, 256.0}) {
    const double time = DecodeTime(job, batch, 1024).Total();
    EXPECT_GT(time, before);
    before = time;
  }
  EXPECT_GT(DecodeTime(job, 8, 8192).cache, DecodeTime(job, 8, 1024).cache);
}

TEST(Decode, IsNeverFasterThanItsBytes) {
  const ServedJob job = Job();
  const double weights =
      (job.shape.attention + job.shape.mlp + job.shape.head) * 2;
  EXPECT_GT(DecodeTime(job, 1, 1).Total(), weights / job.bandwidth);
}

TEST(Decode, ReadsMoreExpertsForMoreTokens) {
  const ServedJob job = WithExperts();
  const double one = DecodeTime(job, 1, 64).weights;
  const double many = DecodeTime(job, 64, 64).weights;
  EXPECT_GT(many, one * 3);
}

TEST(Decode, IsSplitOverRanksAndPaysForTheirSums) {
  const ServedJob job = Job();
  ServedJob split = job;
  split.tensor = 4;
  EXPECT_EQ(DecodeTime(job, 8, 512).communication, 0);
  EXPECT_GT(DecodeTime(split, 8, 512).communication, 0);
  EXPECT_LT(DecodeTime(split, 8, 512).weights,
            DecodeTime(job, 8, 512).weights / 3);
}

TEST(Decode, WaitsForWeightsOnTheHost) {
  ServedJob job = Job();
  job.offloaded_bytes = 6.3e9;
  EXPECT_NEAR(DecodeTime(job, 1, 64).host_memory, 0.1, 1e-9);
}

TEST(Prefill, IsCheaperWhereThePromptIsCached) {
  const ServedJob job = Job();
  const double whole = PrefillTime(job, 8192, 8192).Total();
  const double rest = PrefillTime(job, 1024, 1024, 7168).Total();
  EXPECT_LT(rest, whole / 3);
  // But not as cheap as a short prompt: attention reads what is cached.
  EXPECT_GT(rest, PrefillTime(job, 1024, 1024).Total());
}

TEST(Steady, TokensWaitForOthersPrompts) {
  const ServedJob job = Job();
  const ServedPoint one =
      ServedSteadily(job, {.concurrency = 1, .isl = 4096, .osl = 128});
  const ServedPoint many =
      ServedSteadily(job, {.concurrency = 16, .isl = 4096, .osl = 128});
  EXPECT_EQ(one.interference, 0);
  EXPECT_GT(many.interference, 0);
  EXPECT_GT(many.first_token, one.first_token);
  EXPECT_GT(many.requests_a_second, one.requests_a_second);
}

TEST(Steady, RequestsBeyondTheCacheWait) {
  ServedJob job = Job();
  const ServedLoad load = {.concurrency = 512, .isl = 8192, .osl = 512};
  const ServedPoint point = ServedSteadily(job, load);
  ASSERT_LT(point.capacity, 512);
  EXPECT_NEAR(point.batch, point.capacity, 1e-6);
  job.memory *= 100;
  EXPECT_LT(ServedSteadily(job, load).first_token, point.first_token);
}

TEST(Steady, AcceptedDraftsMakeTokensCheaper) {
  ServedJob job = Job();
  const ServedLoad load = {.concurrency = 1, .isl = 512, .osl = 512};
  const double plain = ServedSteadily(job, load).token;
  job.drafts = 3;
  job.draft_share = 0.03;
  job.tokens_a_step = 2.5;
  EXPECT_LT(ServedSteadily(job, load).token, plain / 2);
  // Drafts that are never accepted only cost.
  job.tokens_a_step = 1;
  EXPECT_GT(ServedSteadily(job, load).token, plain);
}

TEST(Steady, AnOpenLoadSettles) {
  const ServedJob job = Job();
  const ServedPoint slow =
      ServedSteadily(job, {.isl = 512, .osl = 128, .rate = 1});
  const ServedPoint fast =
      ServedSteadily(job, {.isl = 512, .osl = 128, .rate = 8});
  EXPECT_GT(fast.batch, slow.batch);
  EXPECT_GT(fast.token, slow.token);
}

TEST(Constants, AreFoundByName) {
  for (const EngineConstants& engine : ServedEngines()) {
    EXPECT_EQ(FindServedEngine(engine.name), &engine);
    EXPECT_GT(engine.layer, 0);
  }
  EXPECT_EQ(FindServedEngine("none"), nullptr);
  EXPECT_EQ(FindServedCards("none"), nullptr);
}

}  // namespace
}  // namespace foretell
