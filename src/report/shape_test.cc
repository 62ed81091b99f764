#include "report/shape.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "base/check.h"
#include "report/example_document.h"

namespace foretell {
namespace {

DocumentShape ShapeOf(std::vector<RowShape> rows) {
  return {.name = "x",
          .title = "X",
          .doc = "X.",
          .sections = {{.rows = std::move(rows)}}};
}

TEST(Shape, TheExampleHolds) { EXPECT_NO_THROW(CheckShape(ExampleShape())); }

TEST(Shape, FindsRowsByPath) {
  const RowShape* row = FindRow(ExampleShape(), "memory.parts");
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->label, "By part");
  EXPECT_NE(FindRow(ExampleShape(), "class"), nullptr);
  EXPECT_EQ(FindRow(ExampleShape(), "parts"), nullptr);
  EXPECT_EQ(FindRow(ExampleShape(), "memory.class"), nullptr);
  EXPECT_EQ(FindRow(ExampleShape(), ""), nullptr);
}

TEST(Shape, RefusesFaultyShapes) {
  const auto field = [](std::string_view name, std::string_view doc) {
    return FieldRow(name, "Label", CellType::kText, doc);
  };
  const ColumnShape text = {"key", "Key", CellType::kText, "A key."};
  const ColumnShape number = {"n", "N", CellType::kInteger, "A number."};
  const struct {
    const char* fault;
    std::vector<RowShape> rows;
  } cases[] = {
      {"a name twice: a", {field("a", "A."), field("a", "A.")}},
      {"not snake_case: Name", {field("Name", "A.")}},
      {"no doc sentence: a", {field("a", "A")}},
      {"a table without columns: t", {TableRow("t", "T", "T.", {})}},
      {"a column twice in t", {TableRow("t", "T", "T.", {text, text})}},
      {"a key that is not a text: t",
       {KeyedRow("t", "T", "T.", {number, text})}},
      {"keys leave no column: t", {KeyedRow("t", "T", "T.", {text})}},
      {"bars are a text and a figure: t",
       {BarsRow("t", "T", "T.", text, number)}},
  };
  for (const auto& [fault, rows] : cases) {
    try {
      CheckShape(ShapeOf(rows));
      ADD_FAILURE() << "accepted: " << fault;
    } catch (const InternalError& error) {
      EXPECT_NE(std::string(error.what()).find(fault), std::string::npos)
          << error.what();
    }
  }
}

TEST(Shape, SectionAndRowMayNotShareAKey) {
  DocumentShape shape =
      ShapeOf({FieldRow("memory", "Memory", CellType::kText, "A field.")});
  shape.sections.push_back(
      {.name = "memory", .title = "Memory", .doc = "A section."});
  EXPECT_THROW(CheckShape(shape), InternalError);
}

}  // namespace
}  // namespace foretell
