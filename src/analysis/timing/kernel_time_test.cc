#include "analysis/timing/kernel_time.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <utility>

namespace foretell {
namespace {

Device Card() {
  Device device;
  device.id = "card";
  device.bandwidth_gbs = 1000;
  device.dense_tflops = {{"bf16", 100}};
  device.link_gbs = 200;
  device.per_node = 8;
  device.multiprocessors = 100;
  return device;
}

KernelProduct ProductOf(KernelVariable variable) {
  KernelProduct out;
  out.multiplied = {variable};
  return out;
}

// A sum of one tree: `small` up to log2(m) = 5, `large` beyond.
TreeSum TreeOf(float small, float large) {
  TreeSum out;
  out.starts = {0};
  out.nodes = {{.feature = 0, .right = 2, .value = 5},
               {.feature = -1, .right = 0, .value = small},
               {.feature = -1, .right = 0, .value = large}};
  return out;
}

// Products of two versions of one framework, whose time is 10 us and twice
// what the specification allows, half as long beyond 32 rows.
std::shared_ptr<const KernelCoefficients> Products() {
  KernelModel model;
  model.kind = "gemm";
  model.words = {{.name = "framework", .texts = {"vllm"}},
                 {.name = "version", .texts = {"0.19.0", "0.24.0"}},
                 {.name = "dtype", .texts = {"bfloat16"}}};
  model.basis = {ProductOf(KernelVariable::kArithmeticUs)};
  model.series = {{.words = {0, 0, 0},
                   .place = 0,
                   .points = 9,
                   .weights = {20, 2},
                   .basis = "measured on card, vllm 0.19.0"},
                  {.words = {0, 1, 0},
                   .place = 1,
                   .points = 5,
                   .weights = {10, 2},
                   .basis = "measured on card, vllm 0.24.0"}};
  KernelFeature rows;
  rows.kind = KernelFeatureKind::kLog;
  rows.products = {ProductOf(KernelVariable::kM)};
  model.features = {rows};
  model.ranges = {{.variable = KernelVariable::kM, .low = 1, .high = 1024}};
  model.centre = TreeOf(0, static_cast<float>(std::log(0.5)));
  model.spread = TreeOf(static_cast<float>(std::log(0.1)),
                        static_cast<float>(std::log(0.1)));
  model.low = -1;
  model.high = 1;
  KernelCoefficients out;
  out.card = "card";
  out.multiprocessors = 100;
  out.l2_bytes = 50e6;
  out.models.emplace("gemm", std::move(model));
  return std::make_shared<const KernelCoefficients>(std::move(out));
}

TimedDevice Measured() {
  return {.device = Card(), .own = Products(), .any = nullptr};
}

constexpr MatrixProduct kSmall = {.m = 16, .n = 4096, .k = 4096};

TEST(TimeOf, IsTheSeriesGuessTimesTheTrees) {
  const KernelTime time =
      TimeOf(Measured(), {.framework = "vllm", .version = "0.24.0"}, kSmall);
  const double arithmetic = 2.0 * 16 * 4096 * 4096 / 100e12 * 1e6;
  EXPECT_NEAR(time.us, 10 + 2 * arithmetic, 1e-4);
  EXPECT_NEAR(time.low, time.us * std::exp(-0.1), 1e-3);
  EXPECT_NEAR(time.high, time.us * std::exp(0.1), 1e-3);
  EXPECT_EQ(time.reach, Reach::kInside);
  EXPECT_EQ(time.limit, Limit::kArithmetic);
  MatrixProduct large = kSmall;
  large.m = 64;
  EXPECT_NEAR(TimeOf(Measured(), {}, large).us, 0.5 * (10 + 2 * 4 * arithmetic),
              1e-4);
}

TEST(TimeOf, TakesTheNewestVersionThatIsNotNewer) {
  const TimedDevice card = Measured();
  const auto basis = [&card](const char* version) {
    return TimeOf(card, {.framework = "vllm", .version = version}, kSmall)
        .basis;
  };
  EXPECT_EQ(basis("0.24.0"), "measured on card, vllm 0.24.0");
  EXPECT_EQ(basis("0.30.1"), "measured on card, vllm 0.24.0");
  EXPECT_EQ(basis("0.20.2"), "measured on card, vllm 0.19.0");
  EXPECT_EQ(basis("0.9.1"), "measured on card, vllm 0.19.0");
  EXPECT_EQ(basis(""), "measured on card, vllm 0.24.0");
}

TEST(TimeOf, WidensBeyondWhatWasMeasured) {
  MatrixProduct shape = kSmall;
  double before = 0;
  Reach reach = Reach::kInside;
  for (const int64_t m : {1024, 1500, 4096, 65536}) {
    shape.m = m;
    const KernelTime time = TimeOf(Measured(), {}, shape);
    const double width = time.high / time.low;
    EXPECT_GT(width, before) << m;
    EXPECT_GE(time.reach, reach) << m;
    before = width;
    reach = time.reach;
  }
  EXPECT_EQ(reach, Reach::kOutside);
  shape.m = 1500;
  EXPECT_EQ(TimeOf(Measured(), {}, shape).reach, Reach::kNear);
}

TEST(TimeOf, AnotherFrameworkOrDtypeIsToldByAWiderInterval) {
  const KernelTime own = TimeOf(Measured(), {.framework = "vllm"}, kSmall);
  const KernelTime other = TimeOf(Measured(), {.framework = "other"}, kSmall);
  EXPECT_GT(other.high / other.low, own.high / own.low);
  MatrixProduct quantized = kSmall;
  quantized.dtype = KernelDtype::kInt4WeightOnly;
  EXPECT_EQ(TimeOf(Measured(), {}, quantized).reach, Reach::kOutside);
}

TEST(TimeOf, AnUnmeasuredCardSaysSo) {
  const KernelTime time =
      TimeOf({.device = Card(), .own = nullptr, .any = nullptr}, {}, kSmall);
  EXPECT_EQ(time.basis, "the card's specification");
  EXPECT_EQ(time.reach, Reach::kOutside);
  EXPECT_LT(time.low, time.us);
  const KernelTime any =
      TimeOf({.device = Card(), .own = nullptr, .any = Products()}, {}, kSmall);
  EXPECT_EQ(any.basis, "other cards' measurements, by the specification");
  EXPECT_EQ(any.reach, Reach::kOutside);
}

TEST(TimeOf, WhatTheCardLacksIsMissing) {
  Device bare;
  EXPECT_FALSE(
      TimeOf({.device = bare, .own = nullptr, .any = nullptr}, {}, kSmall)
          .is_known());
  const KernelTime far =
      TimeOf(Measured(), {}, Collective{.bytes = 1 << 20, .ranks = 64});
  EXPECT_FALSE(far.is_known());
  EXPECT_TRUE(
      TimeOf(Measured(), {},
             Collective{.bytes = 1 << 20, .ranks = 64, .network_gbs = 50})
          .is_known());
}

}  // namespace
}  // namespace foretell
