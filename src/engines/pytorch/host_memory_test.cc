#include "engines/pytorch/host_memory.h"

#include <gtest/gtest.h>

#include <string_view>

namespace foretell {
namespace {

constexpr int64_t kWeights = 16'000'000'000;

double Middle(const Bytes& bytes) { return bytes.any().value().value_or(-1); }

double TermOf(const std::vector<HostTerm>& terms, std::string_view name) {
  for (const HostTerm& term : terms) {
    if (term.name == name) return Middle(term.bytes);
  }
  return -1;
}

HostJob Job() {
  HostJob job;
  job.ranks = 8;
  job.weights = kWeights;
  job.trained = kWeights;
  job.states = 2 * kWeights;
  job.batch_tokens = 4096;
  return job;
}

TEST(HostMemory, EachRankLoadsUnlessOneDoes) {
  HostJob job = Job();
  EXPECT_EQ(TermOf(HostTermsOf(job), "loading the model"), 8.0 * kWeights);
  job.first_rank_loads = true;
  EXPECT_EQ(TermOf(HostTermsOf(job), "loading the model"), 1.0 * kWeights);
  job.loads_by_shard = true;
  EXPECT_EQ(TermOf(HostTermsOf(job), "loading the model"), 8 * 5e9);
}

TEST(HostMemory, WhatIsNotAskedForHasNoTerm) {
  HostJob job = Job();
  EXPECT_EQ(TermOf(HostTermsOf(job), "dataset workers"), -1);
  EXPECT_EQ(TermOf(HostTermsOf(job), "offloaded activations"), -1);
  job.workers = 4;
  job.activations = 1'000'000;
  job.offloaded = 1'000'000;
  EXPECT_EQ(TermOf(HostTermsOf(job), "dataset workers"), 4 * 8 * 0.6e9);
  EXPECT_EQ(TermOf(HostTermsOf(job), "offloaded activations"), 8e6);
  EXPECT_EQ(TermOf(HostTermsOf(job), "batches made ahead"),
            4096.0 * 24 * 8 * 8);
}

TEST(HostMemory, LoadingAndSavingAreNotAtOnce) {
  HostJob job = Job();
  job.gathers_to_save = true;
  const auto terms = HostTermsOf(job);
  double sum = 0;
  for (const HostTerm& term : terms) sum += Middle(term.bytes);
  const double peak = Middle(HostPeakOf(terms));
  EXPECT_LT(peak, sum);
  EXPECT_GE(peak, TermOf(terms, "loading the model"));
}

TEST(HostMemory, ACheckpointHoldsWhatTrainsAndItsStates) {
  HostJob job = Job();
  job.saves_adapters = true;
  job.trained = 1000;
  job.states = 4000;
  const auto terms = DiskTermsOf(job);
  EXPECT_EQ(TermOf(terms, "adapters"), 1000);
  EXPECT_EQ(TermOf(terms, "optimizer states"), 4000);
}

}  // namespace
}  // namespace foretell
