#include "input/catalogue_row.h"

#include <gtest/gtest.h>

#include <string>

#include "input/json.h"

namespace foretell {
namespace {

CatalogueRow Whole() {
  CatalogueRow row;
  row.id = "o/m";
  row.class_name = "C";
  row.model_type = "t";
  row.kind = "config.json copy";
  row.source = "r p @c";
  row.date = "2026-01-02";
  row.limits = "none, \"really\"";
  row.published = PublishedTotal{12, "there"};
  row.aliases = {{"o/n", "why,\"hyper\":{"}, {"o/p", ""}};
  row.hyper = ParseJson(
      R"({"a":1,"q":["m.0","m.1","m.2","m.3","m.4","m.5","m.6","m.7"]})", "x");
  return row;
}

std::string ErrorOf(const std::string& line) {
  try {
    return "read " + ParseCatalogueRow(line, "m.jsonl").id;
  } catch (const InputErrors& errors) {
    return errors.what();
  }
}

TEST(CatalogueRow, IsReadBackAsItWasWritten) {
  const std::string line = ToLine(Whole());
  EXPECT_EQ(line,
            R"({"id":"o/m","class":"C","model_type":"t","kind":"config.json )"
            R"(copy","source":"r p @c","date":"2026-01-02","limits":"none, )"
            R"(\"really\"","published":{"parameters":12,"where":"there"},)"
            R"("aliases":[{"id":"o/n","why":"why,\"hyper\":{"},)"
            R"({"id":"o/p"}],"hyper":{"a":1,"q":{"#fold":["m.{0-7}"]}}})");
  const CatalogueRow row = ParseCatalogueRow(line, "m.jsonl");
  EXPECT_EQ(ToLine(row), line);
  EXPECT_EQ(row.hyper, Whole().hyper);
  EXPECT_EQ(row.limits, Whole().limits);
  EXPECT_EQ(row.aliases[0].why, Whole().aliases[0].why);
  EXPECT_EQ(row.published->parameters, 12);
}

TEST(CatalogueRow, ItsHeadIsReadWithoutTheRest) {
  const std::string line = ToLine(Whole());
  const size_t hyper = line.rfind(",\"hyper\":");
  const CatalogueRow row =
      ParseCatalogueHead(line.substr(0, hyper + 9) + "broken", "m.jsonl");
  EXPECT_EQ(row.id, "o/m");
  EXPECT_EQ(row.aliases.size(), 2u);
  EXPECT_TRUE(row.hyper.is_null());
}

TEST(CatalogueRow, LeavesOutWhatItHasNot) {
  CatalogueRow row;
  row.id = "o/m";
  row.kind = "reconstructed";
  row.hyper = ConfigValue::Object();
  EXPECT_EQ(ToLine(row),
            R"({"id":"o/m","class":"","model_type":"","kind":"reconstructed",)"
            R"("source":"","date":"","aliases":[],"hyper":{}})");
  EXPECT_EQ(EntryOf(row).published_parameters, std::nullopt);
}

TEST(CatalogueRow, BecomesAnEntry) {
  const CatalogueEntry entry = EntryOf(Whole());
  EXPECT_EQ(entry.id, "o/m");
  EXPECT_EQ(entry.class_name, "C");
  EXPECT_EQ(entry.published_parameters, 12);
  EXPECT_EQ(entry.aliases, (std::vector<std::string>{"o/n", "o/p"}));
}

TEST(CatalogueRow, TellsWhatIsWrong) {
  EXPECT_EQ(ErrorOf(R"({"id":"a","kind":"k"})"),
            "error: m.jsonl:1:1 (hyper): is missing\n"
            "  {\"id\":\"a\",\"kind\":\"k\"}\n  ^\ncure: write an object\n");
  EXPECT_EQ(ErrorOf(R"({"id":"a","kind":"k","hyper":{"q":{"#fold":["{"]}}})"),
            "error: m.jsonl:1:30 (hyper): holds names that do not unfold\n"
            "  {\"id\":\"a\",\"kind\":\"k\",\"hyper\":{\"q\":{\"#fold\":[\"{\""
            "]}}}\n                               ^\n"
            "cure: make the row again with tools/catalogue\n");
}

TEST(CatalogueRow, IdsSortWithoutCase) {
  EXPECT_TRUE(CatalogueIdLess("a/b", "A/c"));
  EXPECT_TRUE(CatalogueIdLess("A/b", "a/b"));
  EXPECT_FALSE(CatalogueIdLess("a/b", "A/b"));
  EXPECT_FALSE(CatalogueIdLess("a", "a"));
  EXPECT_TRUE(CatalogueIdLess("a", "a/b"));
}

}  // namespace
}  // namespace foretell
