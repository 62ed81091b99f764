// The report of `foretell graph`: what one forward pass executes.
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
