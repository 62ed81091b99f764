// The report of `foretell scorecard`: accuracy by set and group, formulas apart
// from devices, beside what others publish.
//
// In: the answer. Out: a document of ScorecardShape(), documented in
// docs/json/scorecard.md.
#ifndef FORETELL_REPORT_PRESENT_SCORECARD_H_
#define FORETELL_REPORT_PRESENT_SCORECARD_H_

#include "answers/scorecard.h"
#include "report/document.h"
#include "report/shape.h"

namespace foretell {

const DocumentShape& ScorecardShape();

Document PresentScorecard(const ScorecardAnswer& answer);

}  // namespace foretell

#endif  // FORETELL_REPORT_PRESENT_SCORECARD_H_
