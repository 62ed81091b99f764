// A picture of memory over operations: stacked areas by what the bytes are
// for, over the operations in their order, phases or stages and the peak
// marked.
//
// In: a timeline with points. Out: one SVG file that needs nothing beside
// it: no script, no font, colours that follow the reader's light or dark
// theme. Names from outside are made harmless and escaped.
#ifndef FORETELL_REPORT_TIMELINE_SVG_H_
#define FORETELL_REPORT_TIMELINE_SVG_H_

#include <string>
#include <string_view>

#include "report/timeline.h"

namespace foretell {

std::string TimelineSvg(const Timeline& timeline);

// For the text of an element or an attribute's value.
std::string XmlText(std::string_view text);

}  // namespace foretell

#endif  // FORETELL_REPORT_TIMELINE_SVG_H_
