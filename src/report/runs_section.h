// What the user's own runs say of a prediction: a section of every report that
// predicts what a run can measure. It is left out where no run is comparable.
//
// In: corrected figures. Out: rows of the section "by_runs".
#ifndef FORETELL_REPORT_RUNS_SECTION_H_
#define FORETELL_REPORT_RUNS_SECTION_H_

#include <vector>

#include "answers/calibration.h"
#include "report/document.h"
#include "report/shape.h"

namespace foretell {

SectionShape RunsSection();
void SetRuns(Document& document, const std::vector<CalibratedFigure>& runs);

}  // namespace foretell

#endif  // FORETELL_REPORT_RUNS_SECTION_H_
