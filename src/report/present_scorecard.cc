#include "report/present_scorecard.h"

#include <string>
#include <utility>
#include <vector>

#include "report/score_cells.h"

namespace foretell {
namespace {

std::vector<ColumnShape> LineColumns() {
  std::vector<ColumnShape> out = {
      {"set", "Set", CellType::kText, "Which file of truth."},
      {"group", "Group", CellType::kText, "Which comparisons of it."},
      {"rows", "Rows", CellType::kInteger, "Rows of the file."},
      {"scored", "Scored", CellType::kInteger, "Rows that were compared."}};
  AddScoreColumns(true, out);
  return out;
}

SectionShape Result() {
  return {
      .rows = {
          Optional(FieldRow("truth", "Truth", CellType::kText,
                            "The folder that was scored.")),
          Optional(FieldRow("date", "Measured on", CellType::kText,
                            "The day of the figures, where no folder was "
                            "given.")),
          Sparse(TableRow("devices", "Against measured devices",
                          "Errors are relative.", LineColumns())),
          Sparse(TableRow("formulas", "Against formulas, files and recordings",
                          "What should be equal.", LineColumns())),
          Optional(TableRow(
              "missing", "Not in the folder", "Sets that were not scored.",
              {{"file", "File", CellType::kText, "Where it was looked for."}})),
          TableRow(
              "peers", "What others publish",
              "Figures of other tools, as they state them; their rows are "
              "their own.",
              {{"quantity", "Quantity", CellType::kText, "What is predicted."},
               {"figure", "Figure", CellType::kText, "As it is published."},
               {"by", "By", CellType::kText, "Whose tool."},
               {"cases", "Cases", CellType::kText, "How many."},
               {"evidence", "Evidence", CellType::kText, "What stands behind."},
               {"source", "Source", CellType::kText,
                "Where it was read, and when."}}),
      }};
}

std::vector<Cell> CellsOf(const ScorecardLine& line) {
  std::vector<Cell> out = {line.set, line.group, line.rows, line.scored};
  AddScoreCells(line.figures, out);
  return out;
}

}  // namespace

const DocumentShape& ScorecardShape() {
  static const DocumentShape shape = {
      .name = "scorecard",
      .title = "Scorecard",
      .doc = "How near predictions come to the truth, set by set.",
      .sections = {Result()}};
  return shape;
}

Document PresentScorecard(const ScorecardAnswer& answer) {
  Document document(ScorecardShape());
  if (!answer.truth.empty()) document.Set("truth", answer.truth);
  if (!answer.date.empty()) document.Set("date", answer.date);
  document.Touch("devices");
  document.Touch("formulas");
  for (const ScorecardLine& line : answer.lines) {
    document.AddRow(line.kind == "device" ? "devices" : "formulas",
                    CellsOf(line));
  }
  for (const std::string& file : answer.missing) {
    document.AddRow("missing", {file});
  }
  document.Touch("peers");
  for (const PeerFigure& peer : answer.peers) {
    document.AddRow("peers", {peer.quantity, peer.figure, peer.by, peer.cases,
                              peer.evidence, peer.source});
  }
  return document;
}

}  // namespace foretell
