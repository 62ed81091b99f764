#include "input/recording.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/input_error.h"

namespace foretell {
namespace {

std::string ErrorOf(const std::string& text) {
  try {
    const auto rows = ParseRecordings(text, "r.jsonl");
    return "read " + std::to_string(rows.size());
  } catch (const InputErrors& errors) {
    return errors.what();
  }
}

TEST(Recording, ReadsARowOfParameters) {
  const auto rows = ParseRecordings(
      R"({"key": "k", "config": "o--m", "class": "C", "library": "transformers 5",)"
      R"( "parameters": 12, "case": {"what": "params", "class": "C", "over": "a=2", "edit": "none"},)"
      R"( "buffers": [{"name": "b", "shape": [1, 512], "dtype": "i64", "count": 1}],)"
      R"( "ties": [["x", "y"]], "tensors": [{"name": "l.#.w", "shape": [3, 4], "count": 2, "indices": "0-1"},)"
      R"( {"name": "s", "shape": [], "count": 1}]})"
      "\n",
      "r.jsonl");
  ASSERT_EQ(rows.size(), 1u);
  const Recording& row = rows[0];
  EXPECT_EQ(row.key, "k");
  EXPECT_EQ(row.line, 1);
  EXPECT_EQ(row.config, "o--m");
  EXPECT_EQ(row.class_name, "C");
  EXPECT_EQ(row.asked_class, "C");
  EXPECT_EQ(row.library, "transformers 5");
  EXPECT_EQ(row.parameters, 12);
  EXPECT_TRUE(row.has_tensors);
  EXPECT_TRUE(row.edits.empty());
  ASSERT_EQ(row.overrides.size(), 1u);
  EXPECT_EQ(row.overrides[0].path, std::vector<std::string>{"a"});
  ASSERT_EQ(row.tensors.size(), 2u);
  EXPECT_EQ(row.tensors[0].name, "l.#.w");
  EXPECT_EQ(row.tensors[0].indices, "0-1");
  EXPECT_EQ(row.tensors[0].shape, Shape({3, 4}));
  EXPECT_EQ(row.tensors[0].count, 2);
  EXPECT_EQ(row.tensors[1].shape, Shape());
  ASSERT_EQ(row.buffers.size(), 1u);
  EXPECT_EQ(row.buffers[0].dtype, "i64");
  ASSERT_EQ(row.ties.size(), 1u);
  EXPECT_EQ(row.ties[0].target, "y");
}

TEST(Recording, WritesTuplesAsTheAnalysisDoes) {
  const auto rows = ParseRecordings(
      R"({"config": "c", "class": "C", "parameters": 1, "tensors": [{"name": "a.#.b.#", "shape": [2],)"
      R"( "count": 2, "indices": [[0, 1], [2, 0]]}]})",
      "r.jsonl");
  EXPECT_EQ(rows[0].tensors[0].indices, "[[0, 1], [2, 0]]");
}

TEST(Recording, ReadsARowOfStepsWithoutTensors) {
  const auto rows = ParseRecordings(
      "\n"
      R"({"config": "c", "class": "C", "parameters": 1, "transformers": "5.23.0", "saved": {"saves": 385}})"
      "\r\n",
      "r.jsonl");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_FALSE(rows[0].has_tensors);
  EXPECT_EQ(rows[0].library, "transformers 5.23.0");
  EXPECT_EQ(rows[0].line, 2);
}

// A divided step's figures are one rank's.
TEST(Recording, TakesNoFiguresOfADividedStep) {
  const auto rows = ParseRecordings(
      R"({"config": "c", "class": "C", "parameters": 1, "case": {"shard": "fsdp2"},)"
      R"( "flops": {"forward": {"aten.mm": 2}}})",
      "r.jsonl");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].step.sharding, "fsdp2");
  EXPECT_FALSE(rows[0].recorded_step.has_value());
}

TEST(Recording, ReadsARowThatRecordsAnError) {
  const auto rows = ParseRecordings(
      R"({"config": "c", "case": {"what": "params"}, "error": "ValueError: no"})",
      "r.jsonl");
  EXPECT_EQ(rows[0].error, "ValueError: no");
  EXPECT_FALSE(rows[0].has_tensors);
}

TEST(Recording, TellsEveryFaultWithItsLine) {
  EXPECT_EQ(
      ErrorOf("{\"config\": 1, \"class\": \"C\", \"parameters\": -1}\n"
              "[]\n"
              "{\"config\": \"c\"\n"),
      "error: r.jsonl:1:12 (config): is a number, not a string\n"
      "  {\"config\": 1, \"class\": \"C\", \"parameters\": -1}\n"
      "             ^\ncure: write a string\n"
      "error: r.jsonl:1:43 (parameters): is not a whole number from 0\n"
      "  {\"config\": 1, \"class\": \"C\", \"parameters\": -1}\n"
      "                                            ^\n"
      "cure: write a whole number from 0\n"
      "error: r.jsonl:2:1: a row is an array, not an object\n  []\n  ^\n"
      "cure: write one JSON object a line\n"
      "error: r.jsonl:3:1: the object that begins here is never closed\n"
      "  {\"config\": \"c\"\n  ^\ncure: fetch the file again if it was cut "
      "short, else add } at its end\n");
}

TEST(Recording, TellsWhatIsMissing) {
  EXPECT_EQ(ErrorOf("{\"class\": \"C\", \"parameters\": 1}"),
            "error: r.jsonl:1:1 (config): is missing\n"
            "  {\"class\": \"C\", \"parameters\": 1}\n  ^\n"
            "cure: write a string\n");
}

TEST(Recording, TellsAFaultyChange) {
  EXPECT_EQ(
      ErrorOf("{\"config\": \"c\", \"case\": {\"over\": \"a=yarn\"}, "
              "\"error\": \"x\"}"),
      "error: r.jsonl:1:34 (case.over): yarn is no value of JSON\n"
      "  {\"config\": \"c\", \"case\": {\"over\": \"a=yarn\"}, \"error\": "
      "\"x\"}\n                                   ^\n"
      "cure: write a string in double quotes, a number, true, false or "
      "null\n");
  EXPECT_THAT(
      ErrorOf(R"({"config": "c", "case": {"over": "-a.b"}, "error": "x"})"),
      testing::HasSubstr("takes a.b out of a loaded configuration"));
}

// What nobody reads would be claimed as if it were not there.
TEST(Recording, TellsAnUnknownKeyAndAnEmptyBatch) {
  const std::string text = ErrorOf(
      R"({"config": "c", "case": {"bacth": 2, "batch": 0, "seq": 4}, "error": "x"})");
  EXPECT_THAT(text, testing::HasSubstr("(bacth): is no key of a case"));
  EXPECT_THAT(text, testing::HasSubstr("cure: write batch, or take it out"));
  EXPECT_THAT(text, testing::HasSubstr("(batch): is not at least 1"));
}

TEST(Recording, TellsAFaultyShape) {
  EXPECT_THAT(ErrorOf(R"({"config": "c", "class": "C", "parameters": 1, )"
                      R"("tensors": [{"name": "a", "shape": [1,1,1,1,1,1,1,1,)"
                      R"(1], "count": 1}]})"),
              testing::HasSubstr("is not 8 whole numbers from 0, or fewer"));
}

TEST(Recording, StopsAtTwentyErrors) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "x\n";
  try {
    ParseRecordings(text, "r");
    FAIL();
  } catch (const InputErrors& errors) {
    EXPECT_EQ(errors.errors().size(), 20u);
  }
}

}  // namespace
}  // namespace foretell
