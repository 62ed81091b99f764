// The report of `foretell verify`: which recorded figures are reproduced.
//
// In: the answer. Out: a document of VerifyShape(), whose names are documented
// in docs/json/verify.md and follow the recordings' own rules.
#ifndef FORETELL_REPORT_PRESENT_VERIFY_H_
#define FORETELL_REPORT_PRESENT_VERIFY_H_

#include "answers/verify.h"
#include "report/document.h"
#include "report/shape.h"

namespace foretell {

const DocumentShape& VerifyShape();

Document PresentVerify(const VerifyAnswer& answer);

}  // namespace foretell

#endif  // FORETELL_REPORT_PRESENT_VERIFY_H_
