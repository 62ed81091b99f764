#include "report/document.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <string>

#include "base/check.h"
#include "report/example_document.h"
#include "report/render.h"

namespace foretell {
namespace {

void ExpectBug(const std::string& fault,
               const std::function<void(Document&)>& deed) {
  Document document(ExampleShape());
  try {
    deed(document);
    ADD_FAILURE() << "accepted: " << fault;
  } catch (const InternalError& error) {
    EXPECT_NE(std::string(error.what()).find(fault), std::string::npos)
        << error.what();
  }
}

TEST(Document, RefusesWhatItsShapeDoesNotAnnounce) {
  ExpectBug("the shape of example lacks nope",
            [](Document& d) { d.Set("nope", 1); });
  ExpectBug("a value of another type: layers",
            [](Document& d) { d.Set("layers", "many"); });
  ExpectBug("a value of another type: layers",
            [](Document& d) { d.Set("layers", true); });
  ExpectBug("a value of another type: note",
            [](Document& d) { d.Set("note", Cell()); });
  ExpectBug("set on what is not a field: tensors",
            [](Document& d) { d.Set("tensors", "x"); });
  ExpectBug("set twice: layers", [](Document& d) {
    d.Set("layers", 1);
    d.Set("layers", 1);
  });
  ExpectBug("a row added to what is not a table: layers",
            [](Document& d) { d.AddRow("layers", {1}); });
  ExpectBug("another number of cells: fields", [](Document& d) {
    d.AddRow("fields", {"x", 1});
  });
  ExpectBug("a cell of another type: fields.n", [](Document& d) {
    d.AddRow("fields", {"x", Cell(), 1});
  });
  ExpectBug("a key twice: fields", [](Document& d) {
    d.AddRow("fields", {"x", 1, 1});
    d.AddRow("fields", {"x", 2, 2});
  });
  ExpectBug("a finding added to another row",
            [](Document& d) { d.AddFinding("layers", Finding()); });
  ExpectBug("touched a field", [](Document& d) { d.Touch("note"); });
}

TEST(Document, EveryRendererWantsTheRequiredFields) {
  for (const Format format :
       {Format::kText, Format::kJson, Format::kMarkdown}) {
    ExpectBug("not set: ", [format](Document& d) { Render(d, format); });
  }
}

TEST(Document, KnowsWhatBlocksAndWhatCannotBeTold) {
  EXPECT_TRUE(ExampleDocument().Blocks());
  EXPECT_TRUE(ExampleDocument().CannotTell());

  Document quiet(ExampleShape());
  Finding warning = ExampleFinding();
  warning.severity = Severity::kWarn;
  SetFindings(quiet, {warning}, {"model/heads"}, {});
  EXPECT_FALSE(quiet.Blocks());
  EXPECT_FALSE(quiet.CannotTell());
}

TEST(Document, OptionalTablesAppearOnceTouched) {
  const DocumentShape shape = {
      .name = "x",
      .title = "X",
      .doc = "X.",
      .sections = {{.title = "Tensors",
                    .rows = {Optional(TableRow(
                        "tensors", "Tensors", "T.",
                        {{"name", "Name", CellType::kText, "N."}}))}}}};
  Document document(shape);
  EXPECT_EQ(Render(document, Format::kJson), "{}\n");
  EXPECT_EQ(Render(document, Format::kText), "");
  document.Touch("tensors");
  EXPECT_EQ(Render(document, Format::kJson), "{\n  \"tensors\": []\n}\n");
  EXPECT_EQ(Render(document, Format::kText), "Tensors\n\n  Tensors: none\n");
}

TEST(Cell, ALiteralIsATextAndNeverAFlag) {
  EXPECT_TRUE(Cell("yes").Is(CellType::kText));
  EXPECT_TRUE(Cell(true).Is(CellType::kFlag));
  EXPECT_TRUE(Cell(1).Is(CellType::kInteger));
  EXPECT_TRUE(Cell(size_t{7}).Is(CellType::kInteger));
  EXPECT_TRUE(Cell(1.0).Is(CellType::kReal));
  EXPECT_TRUE(Cell(Bytes::Exact(1)).Is(CellType::kFigure));
  EXPECT_TRUE(Cell(std::vector<std::string>{}).Is(CellType::kTexts));
  EXPECT_TRUE(Cell().empty());
}

TEST(Cell, RefusesWhatDoesNotFit) {
  EXPECT_THROW(Cell{std::numeric_limits<uint64_t>::max()}, InternalError);
  EXPECT_THROW(Cell("x").integer(), InternalError);
}

}  // namespace
}  // namespace foretell
