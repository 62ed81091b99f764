#include "input/measured_rows.h"

#include <gtest/gtest.h>

#include <string>

#include "base/input_error.h"

namespace foretell {
namespace {

std::string Fixture(const std::string& name) {
  return std::string(FORETELL_SOURCE_DIR) + "/tests/golden/fixtures/measured/" +
         name;
}

MeasuredRowsRequest Request(const std::string& name) {
  return {.path = Fixture(name),
          .model_field = "id",
          .configs_dir = Fixture("configs"),
          .aliases_file = Fixture("aliases.json")};
}

TEST(MeasuredRows, FindConfigurationsByAliasAndById) {
  const MeasuredRows rows = LoadMeasuredRows(Request("weights.jsonl"));
  ASSERT_EQ(rows.rows.size(), 5u);
  const MeasuredRow& own = rows.rows[0];
  const MeasuredRow& tuned = rows.rows[1];
  ASSERT_NE(own.config, nullptr);
  EXPECT_EQ(own.config_how, "");
  // One file, read once.
  EXPECT_EQ(tuned.config, own.config);
  EXPECT_EQ(tuned.config_how, "same-architecture");
  // The blank line counts as a line.
  EXPECT_EQ(rows.rows[2].line, 4);
  EXPECT_EQ(rows.rows[3].model, "own/unheard");
  EXPECT_EQ(rows.rows[3].config, nullptr);
  EXPECT_EQ(rows.rows[3].config_how, "unknown");
  EXPECT_TRUE(rows.rows[3].no_config.starts_with("no configuration"));
}

TEST(MeasuredRows, WithoutAModelNothingIsLookedFor) {
  MeasuredRowsRequest request = Request("weights.jsonl");
  request.model_field = "";
  for (const MeasuredRow& row : LoadMeasuredRows(request).rows) {
    EXPECT_EQ(row.config, nullptr);
    EXPECT_EQ(row.model, "");
  }
}

TEST(MeasuredRows, EveryBrokenLineIsTold) {
  try {
    LoadMeasuredRows(Request("broken.jsonl"));
    FAIL() << "read a broken file";
  } catch (const InputErrors& errors) {
    EXPECT_EQ(errors.errors().size(), 2u);
  }
}

TEST(ConfigAliases, AreCheckedEntryByEntry) {
  const auto aliases = ParseConfigAliases(
      R"({"a/b": {"config": "a--b/x.json", "how": "same"},
          "c": {"config": null}})",
      "aliases.json");
  EXPECT_EQ(aliases.at("a/b").label, "a--b/x");
  EXPECT_EQ(aliases.at("a/b").how, "same");
  EXPECT_EQ(aliases.at("c").label, "");
  for (const char* text : {"[]", R"({"a": 3})", R"({"a": {"config": 3}})"}) {
    EXPECT_THROW(ParseConfigAliases(text, "aliases.json"), InputErrors) << text;
  }
}

TEST(MeasuredRows, ALabelNeverLeavesItsFolder) {
  const auto aliases =
      ParseConfigAliases(R"({"own/odd": {"config": "../aliases.json"}})", "a");
  EXPECT_EQ(aliases.at("own/odd").label, "../aliases");
  // ConfigFinder refuses it: see the reason that the row then has.
  MeasuredRowsRequest request = Request("leaves.jsonl");
  request.aliases_file = Fixture("aliases_leave.json");
  const MeasuredRows rows = LoadMeasuredRows(request);
  ASSERT_EQ(rows.rows.size(), 1u);
  EXPECT_EQ(rows.rows[0].no_config, "its label is no name of a configuration");
}

}  // namespace
}  // namespace foretell
