// The report of `foretell serve`.
//
// In: the answer, and whether every setting is shown. Out: a document.
#ifndef FORETELL_REPORT_PRESENT_SERVE_H_
#define FORETELL_REPORT_PRESENT_SERVE_H_

#include "answers/serve.h"
#include "report/document.h"
#include "report/shape.h"

namespace foretell {

struct ServeView {
  bool settings = false;  // every value that the configuration ends with
};

const DocumentShape& ServeShape();
Document PresentServe(const ServeAnswer& answer, const ServeView& view);

}  // namespace foretell

#endif  // FORETELL_REPORT_PRESENT_SERVE_H_
