// What `foretell run` answers: the runs that are kept, each measured figure
// beside what is predicted for it now.
//
// In: a store of runs and predictions. Out: rows for the report. No errors.
#ifndef FORETELL_ANSWERS_KEPT_RUNS_H_
#define FORETELL_ANSWERS_KEPT_RUNS_H_

#include <optional>
#include <string>
#include <vector>

#include "base/figure.h"
#include "spec/measured_run.h"

namespace foretell {

// One measured figure of a run.
struct RunRow {
  MeasuredRun run;
  RunFigure figure;
  std::optional<AnyFigure> predicted;  // nothing where it cannot be
  std::string job;                     // as a shell takes it
};

struct RunsView {
  std::string store;  // the file
  std::string done;   // "kept as run 3"; empty where the runs are listed
  std::vector<RunRow> rows;
};

}  // namespace foretell

#endif  // FORETELL_ANSWERS_KEPT_RUNS_H_
