#include "answers/score/score_row.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace foretell {
namespace {

ConfigValue Row() {
  ConfigValue sharding = ConfigValue::Object();
  sharding.Set("kind", ConfigValue::String("fsdp"));
  sharding.Set("degree", ConfigValue::Number("8"));
  ConfigValue measured = ConfigValue::Object();
  measured.Set("peak", ConfigValue::Number("11.5"));
  measured.Set("kv_bytes", ConfigValue::Number("4096"));
  ConfigValue row = ConfigValue::Object();
  row.Set("seq_len", ConfigValue::Number("2048"));
  row.Set("lora", ConfigValue::Null());
  row.Set("compile", ConfigValue::Bool(false));
  row.Set("sharding", std::move(sharding));
  row.Set("measured", std::move(measured));
  return row;
}

TEST(ScoreSettings, HoldOnlyWhatIsAllowed) {
  constexpr std::array<std::string_view, 5> kAllowed = {
      "seq_len", "sharding", "compile", "measured.kv_bytes", "absent.path"};
  const ScoreSettings settings(Row(), kAllowed);
  EXPECT_EQ(settings.Integer("seq_len"), 2048);
  EXPECT_EQ(settings.Text("sharding.kind"), "fsdp");
  EXPECT_EQ(settings.Flag("compile"), false);
  EXPECT_EQ(settings.Real("measured.kv_bytes"), 4096);
  EXPECT_EQ(settings.Get("measured.peak"), nullptr);
  EXPECT_EQ(settings.Get("lora"), nullptr);
  EXPECT_EQ(settings.Get("sharding.kind.deeper"), nullptr);
  EXPECT_EQ(settings.Integer("sharding.kind"), std::nullopt);
  EXPECT_EQ(settings.fields().ToJson().find("11.5"), std::string::npos);
}

TEST(Compare, ARelativeErrorIsZeroBetweenTwoReadings) {
  Measured measured = MeasuredNumber("peak", 10);
  measured.low = 10;
  measured.high = 10.7;
  const auto compare = [&](double value) {
    return Compare({"peak", AnyFigure::Estimated(Unit::kBytes, value, value,
                                                 value, "a test")},
                   measured);
  };
  EXPECT_EQ(compare(10.5).error, 0);
  EXPECT_TRUE(compare(10.5).equal);
  EXPECT_NEAR(compare(21.4).error, 1, 1e-12);
  EXPECT_NEAR(compare(5).error, 0.5, 1e-12);
  EXPECT_EQ(compare(5).covered, false);
}

TEST(Compare, WhatIsUnknownIsAMiss) {
  const Score score =
      Compare({"weights", AnyFigure::Unknown(Unit::kBytes, "the rank")},
              MeasuredNumber("weights", 100));
  EXPECT_EQ(score.error, 1);
  EXPECT_FALSE(score.ratio);
  EXPECT_FALSE(score.equal);
  EXPECT_EQ(score.predicted, "nothing");
  EXPECT_EQ(score.note, "the rank");
}

TEST(Compare, ExactFiguresStateNoInterval) {
  const Score score =
      Compare({"weights", AnyFigure::Exact(Unit::kBytes, int64_t{100})},
              MeasuredNumber("weights", 100, {"weights"}));
  EXPECT_TRUE(score.equal);
  EXPECT_FALSE(score.covered);
  EXPECT_EQ(score.groups, (std::vector<std::string>{"all", "weights"}));
}

TEST(Compare, AnIntervalIsMetOrNot) {
  const Measured measured = MeasuredInside("kv", 9.5, 10.5);
  const auto compare = [&](int64_t value) {
    return Compare({"kv", AnyFigure::Exact(Unit::kBytes, value)}, measured);
  };
  EXPECT_TRUE(compare(10).equal);
  EXPECT_FALSE(compare(11).equal);
  EXPECT_EQ(compare(11).error, 1);
}

TEST(Compare, TextsAreEqualOrNot) {
  const Measured measured = MeasuredText("class", "dtype");
  EXPECT_TRUE(Compare({"class", std::string("dtype")}, measured).equal);
  EXPECT_FALSE(Compare({"class", std::string("lora")}, measured).equal);
  EXPECT_FALSE(
      Compare({"class", AnyFigure::Unknown(Unit::kCount, "x")}, measured)
          .equal);
}

}  // namespace
}  // namespace foretell
