#include "analysis/timing/kernel_work.h"

#include <gtest/gtest.h>

namespace foretell {
namespace {

TEST(WorkOf, AProductReadsWeightsAndActivationsOnce) {
  const KernelWork work =
      WorkOf(MatrixProduct{.m = 3, .n = 5, .k = 7, .dtype = KernelDtype::kFp8});
  EXPECT_EQ(work.flops, 2 * 3 * 5 * 7);
  EXPECT_EQ(work.bytes, 5 * 7 + 3 * 7 + 2 * 3 * 5);
}

TEST(WorkOf, ABatchOfProductsIsAsManyTimesTheWork) {
  const MatrixProduct one = {.m = 3, .n = 5, .k = 7};
  MatrixProduct four = one;
  four.batch = 4;
  EXPECT_EQ(WorkOf(four).flops, 4 * WorkOf(one).flops);
  EXPECT_EQ(WorkOf(four).bytes, 4 * WorkOf(one).bytes);
}

// Counts the pairs one by one.
double PairsOneByOne(int64_t query, int64_t past, int64_t window) {
  double pairs = 0;
  for (int64_t i = 0; i < query; ++i) {
    int64_t seen = past + i + 1;
    if (window > 0 && seen > window) seen = window;
    pairs += static_cast<double>(seen);
  }
  return pairs;
}

TEST(WorkOf, CausalAttentionCountsThePairsThatAreSeen) {
  for (const int64_t query : {1, 2, 5, 16}) {
    for (const int64_t past : {0, 3, 20}) {
      for (const int64_t window : {0, 1, 4, 18, 64}) {
        const KernelWork work = WorkOf(PrefillAttention{.batch = 2,
                                                        .heads = 4,
                                                        .kv_heads = 2,
                                                        .head_dim = 8,
                                                        .query = query,
                                                        .past = past,
                                                        .window = window});
        EXPECT_EQ(work.flops,
                  4 * 2 * 4 * 8 * PairsOneByOne(query, past, window))
            << query << " after " << past << ", window " << window;
      }
    }
  }
}

TEST(WorkOf, ADecodeReadsTheWindowAlone) {
  DecodeAttention decode = {
      .batch = 1, .heads = 8, .kv_heads = 2, .head_dim = 64, .past = 999};
  EXPECT_EQ(WorkOf(decode).bytes, 64 * (2 * 2 * 1000 * 2 + 4 * 8));
  decode.window = 100;
  EXPECT_EQ(WorkOf(decode).bytes, 64 * (2 * 2 * 100 * 2 + 4 * 8));
}

TEST(WorkOf, ExpertsReadWhatAnyTokenChose) {
  Experts experts = {
      .tokens = 1, .hidden = 16, .intermediate = 32, .experts = 8, .top_k = 2};
  const double one = WorkOf(experts).flops;
  EXPECT_EQ(one, 6 * 2 * 16 * 32);
  // A rank of two does half of the pairs.
  experts.ep = 2;
  EXPECT_EQ(WorkOf(experts).flops, one / 2);
}

TEST(WorkOf, ARingSendsTwiceWhatIsNotItsOwn) {
  EXPECT_EQ(WorkOf(Collective{.bytes = 800, .ranks = 4}).link_bytes,
            2 * 800 * 3 / 4);
  EXPECT_EQ(
      WorkOf(
          Collective{.op = CollectiveOp::kAllGather, .bytes = 800, .ranks = 4})
          .link_bytes,
      800 * 3 / 4);
  EXPECT_EQ(WorkOf(Collective{.bytes = 800, .ranks = 1}).link_bytes, 0);
}

TEST(PeakTflopsOf, WhatACardLacksItDoesInBfloat16) {
  Device device;
  EXPECT_EQ(PeakTflopsOf(device, KernelDtype::kFp8), 0);
  device.dense_tflops = {{"bf16", 312}, {"int8", 624}};
  EXPECT_EQ(PeakTflopsOf(device, KernelDtype::kFp8), 312);
  EXPECT_EQ(PeakTflopsOf(device, KernelDtype::kInt8), 624);
}

}  // namespace
}  // namespace foretell
