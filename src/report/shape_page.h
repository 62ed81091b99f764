// A page that says what a command's JSON holds, made from the shape.
//
// In: a shape. Out: Markdown for docs/json. Names, types and docs are the
// shape's own, so that the page cannot say something else.
#ifndef FORETELL_REPORT_SHAPE_PAGE_H_
#define FORETELL_REPORT_SHAPE_PAGE_H_

#include <string>

#include "report/shape.h"

namespace foretell {

// Markdown: one table of keys for the top level and for each section, with
// the type and the meaning of each, as docs/json/<name>.md keeps it.
std::string ShapePage(const DocumentShape& shape);

}  // namespace foretell

#endif  // FORETELL_REPORT_SHAPE_PAGE_H_
