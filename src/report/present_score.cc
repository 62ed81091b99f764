#include "report/present_score.h"

#include <string>
#include <utility>
#include <vector>

#include "report/score_cells.h"

namespace foretell {
namespace {

std::vector<ColumnShape> GroupColumns() {
  std::vector<ColumnShape> out = {
      {"group", "Group", CellType::kText, "Which comparisons."}};
  AddScoreColumns(false, out);
  return out;
}

SectionShape Result() {
  return {
      .rows = {
          FieldRow("set", "Set", CellType::kText, "Which set was scored."),
          FieldRow("rows", "Rows", CellType::kInteger, "Rows of the file."),
          FieldRow("scored", "Scored", CellType::kInteger,
                   "Rows with at least one comparison."),
          MapRow("left_out", "Left out",
                 "Why rows were not compared, with their number.",
                 {"reason", "Reason", CellType::kText, "What the row lacks."},
                 {"rows", "Rows", CellType::kInteger, "How many rows."}),
          Sparse(KeyedRow("groups", "By group",
                          "One row a group of comparisons; errors are "
                          "relative.",
                          GroupColumns())),
          Sparse(TableRow(
              "worst", "Farthest off", "The comparisons that are farthest off.",
              {{"line", "Line", CellType::kInteger, "The row's line."},
               {"id", "Id", CellType::kText, "The row's id.", true},
               {"model", "Model", CellType::kText,
                "Its model, where that is not its id.", true},
               {"quantity", "Quantity", CellType::kText, "What was compared."},
               {"predicted", "Predicted", CellType::kText, "The prediction."},
               {"measured", "Measured", CellType::kText, "What was measured."},
               {"error", "Error", CellType::kReal,
                "The relative error; 1 where nothing could be predicted."},
               {"note", "Note", CellType::kText, "Why, where that can be told.",
                true}})),
          Optional(Sparse(TableRow(
              "bars", "Bars", "What the figures were held against.",
              {{"bar", "Bar", CellType::kText, "The bar."},
               {"value", "Value", CellType::kReal,
                "The figure; absent where no comparison gave one.", true},
               {"holds", "Holds", CellType::kFlag, "Whether it holds."}}))),
      }};
}

std::vector<Cell> GroupCells(const std::string& name,
                             const ScoreFigures& figures) {
  std::vector<Cell> out = {name};
  AddScoreCells(figures, out);
  return out;
}

Cell TextOrNone(const std::string& text) {
  return text.empty() ? Cell() : Cell(text);
}

}  // namespace

const DocumentShape& ScoreShape() {
  static const DocumentShape shape = {
      .name = "score",
      .title = "Comparison with measurements",
      .doc = "How near predictions come to what others measured.",
      .sections = {Result()}};
  return shape;
}

Document PresentScore(const ScoreAnswer& answer) {
  Document document(ScoreShape());
  document.Set("set", answer.set);
  document.Set("rows", answer.rows);
  document.Set("scored", answer.scored);
  document.Touch("left_out");
  for (const auto& [reason, rows] : answer.left_out) {
    document.AddRow("left_out", {reason, rows});
  }
  document.Touch("groups");
  for (const auto& [name, figures] : answer.groups) {
    document.AddRow("groups", GroupCells(name, figures));
  }
  document.Touch("worst");
  for (const Score& score : answer.worst) {
    document.AddRow(
        "worst", {score.line, TextOrNone(score.id),
                  score.model == score.id ? Cell() : TextOrNone(score.model),
                  score.quantity, score.predicted, score.measured, score.error,
                  TextOrNone(score.note)});
  }
  for (const BarOutcome& bar : answer.bars) {
    document.AddRow("bars", {bar.bar.text,
                             bar.value ? Cell(*bar.value) : Cell(), bar.holds});
  }
  return document;
}

}  // namespace foretell
