#include "report/present_runs.h"

#include <fmt/format.h>

#include <string>

#include "answers/calibration.h"

namespace foretell {
namespace {

std::string Written(double value, const RunFigureKind& kind) {
  return fmt::format("{:.4g} {}", value, kind.unit);
}

// "19.8 ms (14.2 to 27.1)".
Cell PredictedCell(const RunRow& row, const RunFigureKind& kind) {
  if (!row.predicted || !row.predicted->value()) return {};
  const AnyFigure& any = *row.predicted;
  std::string out = Written(*any.value() / kind.scale, kind);
  if (!any.is_exact() && any.low() && any.high()) {
    out += fmt::format(" ({:.4g} to {:.4g})", *any.low() / kind.scale,
                       *any.high() / kind.scale);
  }
  return out;
}

Cell RatioCell(const RunRow& row, const RunFigureKind& kind) {
  if (!row.predicted || row.predicted->value().value_or(0) <= 0) return {};
  return fmt::format("{:.3f}",
                     row.figure.value * kind.scale / *row.predicted->value());
}

}  // namespace

const DocumentShape& RunsShape() {
  static const DocumentShape shape = {
      .name = "run",
      .title = "Measured runs",
      .doc = "The runs that are kept, and what is predicted for each now.",
      .sections = {
          {.title = "Measured runs",
           .rows = {
               FieldRow("store", "Kept in", CellType::kText, "The file."),
               Optional(FieldRow("done", "Done", CellType::kText,
                                 "What was changed.")),
               Optional(TableRow(
                   "runs", "Runs", "One row a measured figure.",
                   {{"run", "Run", CellType::kInteger, "Its number."},
                    {.name = "added",
                     .label = "Added",
                     .type = CellType::kText,
                     .doc = "When, in UTC.",
                     .optional = true},
                    {"model", "Model", CellType::kText, "The model."},
                    {"cards", "Cards", CellType::kText,
                     "How many of which card."},
                    {"figure", "Figure", CellType::kText, "What was measured."},
                    {"measured", "Measured", CellType::kText, "Its value."},
                    {.name = "predicted",
                     .label = "Predicted",
                     .type = CellType::kText,
                     .doc = "What is predicted for it now, with the "
                            "90 % interval.",
                     .optional = true},
                    {.name = "ratio",
                     .label = "Measured/predicted",
                     .type = CellType::kText,
                     .doc = "The one over the other.",
                     .optional = true},
                    {"job", "Job", CellType::kText,
                     "The command that predicts it."},
                    {.name = "note",
                     .label = "Note",
                     .type = CellType::kText,
                     .doc = "A remark.",
                     .optional = true}}))}}}};
  return shape;
}

Document PresentRuns(const RunsView& view) {
  Document document(RunsShape());
  document.Set("store", view.store);
  if (!view.done.empty()) {
    document.Set("done", view.done);
  } else {
    document.Touch("runs");
  }
  for (const RunRow& row : view.rows) {
    const RunFigureKind* kind = FindRunFigureKind(row.figure.name);
    if (kind == nullptr) continue;
    document.AddRow(
        "runs",
        {row.run.id, row.run.added.empty() ? Cell() : Cell(row.run.added),
         row.run.facts.model,
         fmt::format("{} x {}", row.run.facts.cards, row.run.facts.card),
         std::string(kind->label), Written(row.figure.value, *kind),
         PredictedCell(row, *kind), RatioCell(row, *kind), row.job,
         row.run.note.empty() ? Cell() : Cell(row.run.note)});
  }
  return document;
}

}  // namespace foretell
