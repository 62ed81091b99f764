// The report of `foretell speed`.
//
// In: the answer. Out: a document.
#ifndef FORETELL_REPORT_PRESENT_SPEED_H_
#define FORETELL_REPORT_PRESENT_SPEED_H_

#include "answers/speed.h"
#include "report/document.h"
#include "report/shape.h"

namespace foretell {

const DocumentShape& SpeedShape();
Document PresentSpeed(const SpeedAnswer& answer);

}  // namespace foretell

#endif  // FORETELL_REPORT_PRESENT_SPEED_H_
