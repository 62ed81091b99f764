#include "answers/trained_job.h"

#include <gtest/gtest.h>

namespace foretell {
namespace {

TEST(TrainedFormat, IsReadFromTheWordsOfRecords) {
  EXPECT_EQ(TrainedFormatOf("BF16"), TrainedFormat::kHalf);
  EXPECT_EQ(TrainedFormatOf("bf16-true + bnb.nf4"), TrainedFormat::kHalf);
  EXPECT_EQ(TrainedFormatOf("none (bfloat16)"), TrainedFormat::kHalf);
  EXPECT_EQ(TrainedFormatOf("Autocast:BF16+FP32Optimizer"),
            TrainedFormat::kHalf);
  EXPECT_EQ(TrainedFormatOf("fp32/tf32"), TrainedFormat::kTf32);
  EXPECT_EQ(TrainedFormatOf("FP8-CS"), TrainedFormat::kFp8);
  EXPECT_EQ(TrainedFormatOf("float8 tensorwise"), TrainedFormat::kFp8);
  EXPECT_EQ(TrainedFormatOf("rowwise with bfloat16 all-gather"),
            TrainedFormat::kFp8Scaled);
  EXPECT_EQ(TrainedFormatOf("MXFP8"), TrainedFormat::kFp8Scaled);
  EXPECT_EQ(TrainedFormatOf("NVFP4"), TrainedFormat::kFp4);
}

Device Card() {
  Device out;
  out.id = "some";
  out.arch = "Hopper";
  out.memory_type = "HBM3";
  out.dense_tflops = {{"bf16", 989}};
  out.bandwidth_gbs = 3350;
  return out;
}

TEST(TrainedSetting, NamesWhatTheCardLacks) {
  Device card = Card();
  TrainedRequest request;
  request.device = &card;
  EXPECT_TRUE(
      std::holds_alternative<TrainedSetting>(TrainedSettingOf(request)));
  request.format = TrainedFormat::kFp8;
  EXPECT_EQ(std::get<std::string>(TrainedSettingOf(request)),
            "the card's peak in that format");
  request.format = TrainedFormat::kHalf;
  card.bandwidth_gbs.reset();
  EXPECT_EQ(std::get<std::string>(TrainedSettingOf(request)),
            "the card's bandwidth");
  card.dense_tflops.clear();
  EXPECT_EQ(std::get<std::string>(TrainedSettingOf(request)),
            "the card's peak");
}

TEST(TrainedSetting, SaysWhatItAssumesOfTheNetwork) {
  Device card = Card();
  card.link_gbs = 900;
  TrainedRequest request;
  request.device = &card;
  const auto assumed = std::get<TrainedSetting>(TrainedSettingOf(request));
  ASSERT_EQ(assumed.assumed.size(), 1U);
  EXPECT_EQ(assumed.assumed[0], "beyond its machine a card reaches 400 Gbit/s");
  request.network_gbs = 12.5;
  const auto said = std::get<TrainedSetting>(TrainedSettingOf(request));
  EXPECT_TRUE(said.assumed.empty());
  EXPECT_EQ(said.job.network, 12.5e9);
}

TEST(TrainedFigure, IsWiderOnCardsThatNobodyMeasured) {
  TrainedJob job;
  job.cards = TrainedCards::kHopper;
  const AnyFigure known = TrainedFigure(Unit::kSeconds, 1, job);
  job.cards = TrainedCards::kOther;
  const AnyFigure other = TrainedFigure(Unit::kSeconds, 1, job);
  EXPECT_LT(*known.low(), 1);
  EXPECT_GT(*known.high(), 1);
  EXPECT_GT(*other.high(), *known.high());
  EXPECT_LT(*other.low(), *known.low());
}

}  // namespace
}  // namespace foretell
