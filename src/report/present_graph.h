// The report of `foretell graph`: what one forward pass executes.
//
// In: the answer. Out: a document of GraphShape(), whose names are documented
// in docs/json/graph.md.
#ifndef FORETELL_REPORT_PRESENT_GRAPH_H_
#define FORETELL_REPORT_PRESENT_GRAPH_H_

#include "answers/graph.h"
#include "report/document.h"
#include "report/shape.h"

namespace foretell {

const DocumentShape& GraphShape();

Document PresentGraph(const GraphAnswer& answer);

}  // namespace foretell

#endif  // FORETELL_REPORT_PRESENT_GRAPH_H_
