// What a row of a sparse table lacks is left out, in every format.
#include <gtest/gtest.h>

#include <string>

#include "report/json_schema.h"
#include "report/render.h"

namespace foretell {
namespace {

const DocumentShape& SparseShape() {
  static const DocumentShape shape = {
      .name = "x",
      .title = "X",
      .doc = "X.",
      .sections = {
          {.rows = {Sparse(KeyedRow(
               "groups", "Groups", "One row a group.",
               {{"group", "Group", CellType::kText, "Which."},
                {"n", "N", CellType::kInteger, "How many."},
                {"median", "Median", CellType::kReal, "The middle.", true},
                {"bias", "Bias", CellType::kReal, "The lean.", true}}))}}}};
  return shape;
}

std::string Dense(Format format) {
  Document document(SparseShape());
  document.AddRow("groups", {"all", 2, 0.5, Cell()});
  document.AddRow("groups", {"few", 1, Cell(), Cell()});
  std::string out = Render(document, format);
  std::erase_if(out, [](char c) { return c == ' ' || c == '\n'; });
  return out;
}

TEST(SparseTables, LeaveOutWhatARowLacks) {
  EXPECT_EQ(Dense(Format::kJson),
            "{\"groups\":{\"all\":{\"n\":2,\"median\":0.5},"
            "\"few\":{\"n\":1}}}");
  EXPECT_NE(Dense(Format::kMarkdown).find("|Group|N|Median|"),
            std::string::npos);
  for (const Format format : {Format::kText, Format::kMarkdown}) {
    EXPECT_EQ(Dense(format).find("Bias"), std::string::npos);
    EXPECT_NE(Dense(format).find("–"), std::string::npos);
  }
}

TEST(SparseTables, SchemasRequireOnlyWhatIsAlwaysThere) {
  std::string schema = JsonSchema(SparseShape());
  std::erase_if(schema, [](char c) { return c == ' ' || c == '\n'; });
  // A real is null where it is no number (report/json_schema.cc); what a row
  // lacks is left out, and so not required.
  EXPECT_NE(schema.find("\"required\":[\"n\"]"), std::string::npos);
}

}  // namespace
}  // namespace foretell
