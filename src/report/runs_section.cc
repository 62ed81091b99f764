#include "report/runs_section.h"

#include <string>

namespace foretell {

SectionShape RunsSection() {
  return {
      .name = "by_runs",
      .title = "By your own runs",
      .doc =
          "The same figures, corrected by comparable runs that were kept "
          "with `foretell run add`.",
      .rows = {Optional(TableRow(
          "figures", "Corrected", "One row a figure that a run measured.",
          {{"figure", "Figure", CellType::kText, "Which figure."},
           {.name = "load",
            .label = "Load",
            .type = CellType::kText,
            .doc = "Of which load, where there are several.",
            .optional = true},
           {"predicted", "Predicted", CellType::kFigure,
            "The prediction without runs."},
           {"corrected", "By your runs", CellType::kFigure,
            "The prediction with them, and its own 90 % interval."},
           {"runs", "Runs", CellType::kInteger, "How many it rests on."},
           {"nearest", "Nearest run", CellType::kText,
            "The run that counts most, and what is predicted for it now."}}))}};
}

void SetRuns(Document& document, const std::vector<CalibratedFigure>& runs) {
  for (const CalibratedFigure& run : runs) {
    const RunFigureKind* kind = FindRunFigureKind(run.name);
    document.AddRow("by_runs.figures",
                    {kind == nullptr ? run.name : std::string(kind->label),
                     run.at.empty() ? Cell() : Cell(run.at), run.predicted,
                     run.calibrated, run.runs, run.nearest});
  }
}

}  // namespace foretell
