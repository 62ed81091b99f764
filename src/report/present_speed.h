// The report of `foretell speed`.
//
// In: the answer. Out: a document.
#ifndef FORETELL_REPORT_PRESENT_SPEED_H_
#define FORETELL_REPORT_PRESENT_SPEED_H_

#include <vector>

#include "answers/calibration.h"
#include "answers/speed.h"
#include "report/document.h"
#include "report/shape.h"

namespace foretell {

const DocumentShape& SpeedShape();
// `by_runs` are figures corrected by the user's own runs; often none.
Document PresentSpeed(const SpeedAnswer& answer,
                      const std::vector<CalibratedFigure>& by_runs = {});

}  // namespace foretell

#endif  // FORETELL_REPORT_PRESENT_SPEED_H_
