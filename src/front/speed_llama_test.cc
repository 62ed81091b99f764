#include "answers/llama_speed.h"

#include <gtest/gtest.h>

#include <string>

#include "input/device_catalogue.h"
#include "input/model_lookup.h"

namespace foretell {
namespace {

SpeedRequest Request(const char* card = "rtx-3060") {
  SpeedRequest out;
  ModelLookup how;
  how.offline = true;
  out.config = LookUpModel("Qwen/Qwen3-8B", how);
  out.device = FindDevice(card);
  out.engine = "llama.cpp";
  out.precision = "Q8_0";
  return out;
}

SpeedAnswer Answer(const SpeedRequest& request) {
  auto result = AnswerSpeed(request);
  EXPECT_TRUE(std::holds_alternative<SpeedAnswer>(result));
  return std::get<SpeedAnswer>(std::move(result));
}

double TokenOf(const SpeedRequest& request) {
  return *Answer(request).points.front().token.any().value();
}

std::string RefusalOf(const SpeedRequest& request) {
  const auto result = AnswerSpeed(request);
  const auto* refusal = std::get_if<Refusal>(&result);
  return refusal == nullptr ? "" : refusal->errors.front().what;
}

TEST(LlamaSpeed, PartsAddUpToAToken) {
  const SpeedAnswer answer = Answer(Request());
  double sum = 0;
  for (const SpeedPart& part : answer.token) sum += *part.time.any().value();
  EXPECT_NEAR(sum, *answer.points.back().token.any().value(), 1e-12);
}

TEST(LlamaSpeed, LayersOnTheProcessorAreSlower) {
  SpeedRequest some = Request();
  some.card_layers = 20;
  SpeedRequest none = Request();
  none.card_layers = 0;
  EXPECT_GT(TokenOf(some), TokenOf(Request()));
  EXPECT_GT(TokenOf(none), TokenOf(some));
}

TEST(LlamaSpeed, WhatDoesNotFitIsLeftToTheProcessor) {
  SpeedRequest wide = Request();
  wide.precision = "F16";
  const SpeedAnswer answer = Answer(wide);
  bool is_told = false;
  for (const std::string& text : answer.assumed) {
    is_told = is_told || text.find("no more fit") != std::string::npos;
  }
  EXPECT_TRUE(is_told);
}

TEST(LlamaSpeed, OthersPromptsSlowATokenAndGiveMoreTogether) {
  SpeedRequest request = Request();
  request.concurrency = {1, 4};
  const SpeedAnswer answer = Answer(request);
  EXPECT_GT(*answer.points[1].token.any().value(),
            *answer.points[0].token.any().value());
  EXPECT_GT(*answer.points[1].output_rate.any().value(),
            *answer.points[0].output_rate.any().value());
  // Farther from what was measured: a wider interval.
  const auto width = [](const SpeedPoint& point) {
    return *point.token.any().high() / *point.token.any().low();
  };
  EXPECT_GT(width(answer.points[1]), width(answer.points[0]));
}

TEST(LlamaSpeed, ACachedPromptIsReadFaster) {
  SpeedRequest cached = Request();
  cached.cached = 1000;
  EXPECT_LT(*Answer(cached).points[0].first_token.any().value(),
            *Answer(Request()).points[0].first_token.any().value());
}

TEST(LlamaSpeed, TheAssumedTypeIsTold) {
  SpeedRequest request = Request();
  request.precision = "";
  EXPECT_NE(Answer(request).assumed.front().find("Q4_K_M"), std::string::npos);
}

TEST(LlamaSpeed, RefusesWhatItDoesNotTell) {
  SpeedRequest request = Request();
  request.tensor = 2;
  EXPECT_NE(RefusalOf(request), "");
  request = Request();
  request.drafts = 2;
  EXPECT_NE(RefusalOf(request), "");
  for (const char* type : {"awq", "Q77", "Q9_0", "IQ"}) {
    request = Request();
    request.precision = type;
    EXPECT_NE(RefusalOf(request).find("none of llama.cpp's types"),
              std::string::npos)
        << type;
  }
}

}  // namespace
}  // namespace foretell
