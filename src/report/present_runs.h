// The report of `foretell run`: the runs that are kept, and what is predicted
// for each now.
//
// In: a view of the store. Out: a document of RunsShape().
#ifndef FORETELL_REPORT_PRESENT_RUNS_H_
#define FORETELL_REPORT_PRESENT_RUNS_H_

#include "answers/kept_runs.h"
#include "report/document.h"
#include "report/shape.h"

namespace foretell {

const DocumentShape& RunsShape();
Document PresentRuns(const RunsView& view);

}  // namespace foretell

#endif  // FORETELL_REPORT_PRESENT_RUNS_H_
