#include "answers/score/score_set.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "answers/score/score.h"

namespace foretell {
namespace {

// What no prediction may read, by the truth sets' own rules.
constexpr std::array<std::string_view, 8> kForbidden = {
    "message",    "category", "class", "cause",
    "resolution", "refused",  "notes", "measured"};

// Exceptions that the rules name, by set and path.
bool IsNamedException(std::string_view set, std::string_view path) {
  return set == "vllm_memory" && path.starts_with("measured.kv_");
}

TEST(ScoreSets, SettingsHoldNoVerdictAndNoMeasurement) {
  for (const ScoreSet& set : ScoreSets()) {
    for (const std::string_view path : set.settings) {
      const std::string_view first = path.substr(0, path.find('.'));
      for (const std::string_view forbidden : kForbidden) {
        EXPECT_TRUE(first != forbidden || IsNamedException(set.name, path))
            << set.name << " reads " << path;
      }
    }
  }
}

TEST(ScoreSets, RowsAreComplete) {
  ASSERT_FALSE(ScoreSets().empty());
  for (const ScoreSet& set : ScoreSets()) {
    EXPECT_EQ(FindScoreSet(set.name), &set);
    EXPECT_TRUE(set.doc.ends_with('.')) << set.name;
    EXPECT_FALSE(set.settings.empty()) << set.name;
    EXPECT_NE(set.predict, nullptr) << set.name;
    EXPECT_NE(set.measure, nullptr) << set.name;
  }
  EXPECT_EQ(FindScoreSet("no such set"), nullptr);
}

// A set whose prediction repeats whatever it can see.
Prediction Repeat(const ScoreInput& input) {
  if (input.settings.Get("skip") != nullptr) return LeftOut{"says skip"};
  const auto seen = input.settings.Real("measured.bytes");
  const double guess = input.settings.Real("guess").value_or(0);
  return std::vector<Predicted>{
      {"bytes", AnyFigure::Estimated(Unit::kBytes, seen.value_or(guess),
                                     seen.value_or(guess) * 0.9,
                                     seen.value_or(guess) * 1.1, "a test")}};
}

std::vector<Measured> MeasureBytes(const ConfigValue& row) {
  const ConfigValue* bytes = FieldAt(row, "measured.bytes");
  if (bytes == nullptr) return {};
  return {MeasuredNumber("bytes", *bytes->AsReal(), {"by_kind.own"})};
}

MeasuredRow RowOf(int64_t line, double guess, double measured,
                  const std::string& group = "") {
  MeasuredRow row;
  row.line = line;
  row.fields = ConfigValue::Object();
  row.fields.Set("guess", ConfigValue::Number(std::to_string(guess)));
  if (!group.empty()) row.fields.Set("group", ConfigValue::String(group));
  ConfigValue object = ConfigValue::Object();
  object.Set("bytes", ConfigValue::Number(std::to_string(measured)));
  row.fields.Set("measured", std::move(object));
  return row;
}

TEST(AnswerScore, APredictionSeesOnlyItsSettings) {
  const ScoreSet set = {.name = "test",
                        .doc = "A test.",
                        .settings = {"guess", "skip"},
                        .predict = Repeat,
                        .measure = MeasureBytes};
  ScoreRequest request;
  request.set = &set;
  request.rows.rows = {RowOf(1, 50, 100), RowOf(2, 95, 100)};
  const ScoreAnswer answer = AnswerScore(request);
  EXPECT_EQ(answer.rows, 2);
  EXPECT_EQ(answer.scored, 2);
  // Had it seen what was measured, every error were 0.
  EXPECT_DOUBLE_EQ(answer.groups.at("all").at("median"), 0.275);
  EXPECT_DOUBLE_EQ(answer.groups.at("by_kind.own").at("coverage90"), 0.5);
  ASSERT_EQ(answer.worst.size(), 2u);
  EXPECT_EQ(answer.worst.front().line, 1);
}

TEST(AnswerScore, CountsEveryReasonAndHoldsBars) {
  const ScoreSet set = {.name = "test",
                        .doc = "A test.",
                        .settings = {"guess", "skip"},
                        .predict = Repeat,
                        .measure = MeasureBytes};
  ScoreRequest request;
  request.set = &set;
  request.rows.rows = {RowOf(1, 100, 100), RowOf(2, 100, 100),
                       RowOf(3, 100, 100)};
  request.rows.rows[1].fields.Set("skip", ConfigValue::Bool(true));
  request.rows.rows[2].fields.Set("measured", ConfigValue::Null());
  request.bars = {{"", "all", "share_equal", true, 1.0},
                  {"", "all", "p95", false, 0.1},
                  {"", "none", "n", true, 1}};
  const ScoreAnswer answer = AnswerScore(request);
  EXPECT_EQ(answer.scored, 1);
  EXPECT_EQ(answer.left_out.at("says skip"), 1);
  EXPECT_EQ(answer.left_out.size(), 2u);
  ASSERT_EQ(answer.bars.size(), 3u);
  EXPECT_TRUE(answer.bars[0].holds);
  EXPECT_TRUE(answer.bars[1].holds);
  EXPECT_FALSE(answer.bars[2].holds);
  EXPECT_TRUE(answer.FallsShort());
  EXPECT_TRUE(answer.worst.empty());
}

}  // namespace
}  // namespace foretell
