// The parts of a step's answer add up to its whole, whatever the case.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <variant>

#include "answers/step.h"
#include "input/catalogue.h"
#include "report/present_step.h"
#include "report/render_json.h"
#include "report/render_text.h"

namespace foretell {
namespace {

constexpr std::array<std::string_view, 5> kModels = {
    "openai-community/gpt2", "Qwen/Qwen3-8B",
    "mistralai/Mixtral-8x7B-Instruct-v0.1", "google-bert/bert-base-uncased",
    "google-t5/t5-base"};

StepRequest Request(std::string_view id) {
  StepRequest request;
  auto config = FromCatalogue(id);
  EXPECT_TRUE(config.has_value()) << id;
  request.config = config.value_or(ModelConfig());
  request.build.most_layers = 2;
  request.step.batch = 2;
  request.step.sequence = 32;
  request.most_points = 100;
  return request;
}

void ExpectAddsUp(const StepRequest& request, const std::string& name) {
  const auto answered = AnswerStep(request);
  const auto* answer = std::get_if<StepAnswer>(&answered);
  ASSERT_NE(answer, nullptr) << name;
  ASSERT_TRUE(answer->result) << name;
  const StepResult& result = *answer->result;
  EXPECT_EQ(SumOf(result.at_peak), result.peak) << name;
  int64_t flops = 0;
  int64_t operations = 0;
  int64_t highest = 0;
  for (const StepPhase& phase : result.phases) {
    flops += phase.flops;
    operations += phase.operations;
    highest = std::max(highest, phase.peak);
  }
  EXPECT_EQ(flops, result.flops) << name;
  EXPECT_EQ(operations, result.operations) << name;
  EXPECT_EQ(highest, result.peak) << name;

  StepModule regions;
  for (const StepModule& row : result.modules) {
    regions.flops_forward += row.flops_forward;
    regions.flops_backward += row.flops_backward;
    regions.kept += row.kept;
    regions.at_peak += row.at_peak;
  }
  EXPECT_EQ(regions.flops_forward + regions.flops_backward, flops) << name;
  EXPECT_EQ(regions.kept, result.kept_bytes) << name;
  EXPECT_EQ(regions.at_peak, result.peak) << name;

  StepOperator operators;
  for (const StepOperator& row : result.operators) {
    operators.calls += row.calls;
    operators.flops_forward += row.flops_forward;
    operators.flops_backward += row.flops_backward;
    operators.kept += row.kept;
  }
  EXPECT_EQ(operators.calls, operations) << name;
  EXPECT_EQ(operators.flops_forward, regions.flops_forward) << name;
  EXPECT_EQ(operators.flops_backward, regions.flops_backward) << name;
  EXPECT_EQ(operators.kept, regions.kept) << name;

  // A bucket for each phase's start may come to the hundred.
  EXPECT_LE(result.timeline.size(), request.most_points + 3) << name;
  highest = 0;
  uint32_t ran = 0;
  for (const MemoryPoint& point : result.timeline) {
    EXPECT_GT(point.operation, ran) << name;
    ran = point.operation;
    highest = std::max(highest, SumOf(point.bytes));
    for (const int64_t bytes : point.bytes) EXPECT_GE(bytes, 0) << name;
  }
  EXPECT_EQ(highest, result.peak) << name;
}

TEST(StepAnswer, PartsAddUp) {
  for (const std::string_view id : kModels) {
    ExpectAddsUp(Request(id), std::string(id));
  }
}

TEST(StepAnswer, PartsAddUpWhateverTheSetting) {
  for (const std::string_view id : {kModels[0], kModels[1]}) {
    for (const std::string_view optimizer :
         {"none", "sgd", "adamw_foreach", "adamw_loop", "adafactor"}) {
      for (const bool checkpoint : {false, true}) {
        StepRequest request = Request(id);
        request.step.optimizer = optimizer;
        request.step.checkpoint = checkpoint;
        request.step.first_step = checkpoint;
        ExpectAddsUp(request, std::string(id) + " " + std::string(optimizer) +
                                  (checkpoint ? " checkpoint" : ""));
      }
    }
  }
}

TEST(StepAnswer, StatesAreThereBeforeALaterStepOnly) {
  StepRequest request = Request(kModels[0]);
  const auto later = std::get<StepAnswer>(AnswerStep(request));
  request.step.first_step = true;
  const auto first = std::get<StepAnswer>(AnswerStep(request));
  EXPECT_EQ(later.result->optimizer_bytes, first.result->optimizer_bytes);
  EXPECT_LT(first.result->phases[0].peak, later.result->phases[0].peak);
}

TEST(StepAnswer, APositionPastTheTableHasNoFigures) {
  StepRequest request = Request(kModels[0]);
  request.step.sequence = 1025;
  const auto answer = std::get<StepAnswer>(AnswerStep(request));
  EXPECT_FALSE(answer.result);
  EXPECT_TRUE(AnyBlocks(answer.findings));
}

TEST(StepAnswer, MoreLayersThanThereAreIsRefused) {
  StepRequest request = Request(kModels[0]);
  request.build.most_layers = 13;
  const auto answered = AnswerStep(request);
  const auto* refusal = std::get_if<Refusal>(&answered);
  ASSERT_NE(refusal, nullptr);
  EXPECT_EQ(refusal->errors.front().place.key, "--layers");
}

// No cell of a report is of another type than its shape says, whatever a mode
// has no figure for.
TEST(StepAnswer, EveryModeHasAReport) {
  for (const StepMode mode : {StepMode::kTrain, StepMode::kForward,
                              StepMode::kPrefill, StepMode::kDecode}) {
    StepRequest request = Request("Qwen/Qwen3-8B");
    request.step.mode = mode;
    const auto answered = AnswerStep(request);
    const auto* answer = std::get_if<StepAnswer>(&answered);
    ASSERT_NE(answer, nullptr);
    ASSERT_TRUE(answer->result);
    StepView view;
    view.by_operator = true;
    for (const std::string_view convention : {"", "6ND"}) {
      view.reconcile = convention;
      const Document document = PresentStep(*answer, view);
      EXPECT_FALSE(RenderJson(document).empty());
      EXPECT_FALSE(RenderText(document).empty());
    }
  }
}

}  // namespace
}  // namespace foretell
