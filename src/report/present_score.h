// The report of `foretell score`: how near predictions come to measurements.
//
// In: the answer. Out: a document of ScoreShape(), whose names follow the
// truth sets' own rules and are documented in docs/json/score.md.
#ifndef FORETELL_REPORT_PRESENT_SCORE_H_
#define FORETELL_REPORT_PRESENT_SCORE_H_

#include "answers/score/score.h"
#include "report/document.h"
#include "report/shape.h"

namespace foretell {

const DocumentShape& ScoreShape();

Document PresentScore(const ScoreAnswer& answer);

}  // namespace foretell

#endif  // FORETELL_REPORT_PRESENT_SCORE_H_
