#include "analysis/timing/llamacpp_phases.h"

#include <gtest/gtest.h>

namespace foretell {
namespace {

LlamaJob Job() {
  LlamaJob job;
  job.shape = ShapeOfPlainDecoder(
      {.layers = 32, .hidden = 4096, .query_heads = 32}, 32000);
  job.bytes = 4.87 / 8;
  job.device = *LlamaDevicesOf("ada");
  job.bandwidth = 1.008e12;
  job.peak = 330e12;
  job.memory = 24e9;
  return job;
}

TEST(Llama, GenerationIsBoundByTheWeights) {
  const LlamaJob job = Job();
  const double bytes =
      (job.shape.attention + job.shape.mlp + job.shape.head) * job.bytes;
  const double rate = LlamaGeneration(job, {.tokens = 128});
  EXPECT_LT(rate, job.bandwidth / bytes);
  EXPECT_GT(rate, job.bandwidth / bytes / 3);
  // A deep cache is read as well.
  EXPECT_LT(LlamaGeneration(job, {.tokens = 128, .depth = 16384}), rate);
}

TEST(Llama, SequencesShareTheWeights) {
  const LlamaJob job = Job();
  EXPECT_GT(LlamaGeneration(job, {.tokens = 32, .sequences = 8}),
            LlamaGeneration(job, {.tokens = 32}) * 3);
}

TEST(Llama, WhatDoesNotFitIsReadByTheProcessor) {
  LlamaJob job = Job();
  EXPECT_EQ(LlamaOnHost(job), 0);
  const double all = LlamaGeneration(job, {.tokens = 128});
  job.device_layers = 16;
  EXPECT_DOUBLE_EQ(LlamaOnHost(job), 0.5);
  const double half = LlamaGeneration(job, {.tokens = 128});
  EXPECT_LT(half, all / 3);
  job.device_layers.reset();
  job.memory = 2e9;
  EXPECT_GT(LlamaOnHost(job), 0.5);
  // Memory of its own kind is the host's.
  job.memory = 0;
  EXPECT_EQ(LlamaOnHost(job), 0);
}

TEST(Llama, PromptsAreFasterThanGeneration) {
  const LlamaJob job = Job();
  EXPECT_GT(LlamaPrompt(job, {.tokens = 512}),
            LlamaGeneration(job, {.tokens = 128}) * 5);
  EXPECT_GT(LlamaPrompt(job, {.tokens = 512}),
            LlamaPrompt(job, {.tokens = 512, .depth = 32768}));
}

TEST(Llama, DevicesAreFoundByName) {
  EXPECT_NE(LlamaDevicesOf("apple"), nullptr);
  EXPECT_EQ(LlamaDevicesOf("none"), nullptr);
}

}  // namespace
}  // namespace foretell
