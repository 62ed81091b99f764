// A picture of the memory of one step: stacked areas by what the bytes are
// for, over the operations in their order, phases and the peak marked.
//
// In: an answer with a timeline. Out: one SVG file that needs nothing beside
// it: no script, no font, colours that follow the reader's light or dark
// theme. Names from outside are made harmless and escaped.
#ifndef FORETELL_REPORT_TIMELINE_SVG_H_
#define FORETELL_REPORT_TIMELINE_SVG_H_

#include <string>
#include <string_view>

#include "answers/step.h"

namespace foretell {

std::string TimelineSvg(const StepAnswer& answer);

// For the text of an element or an attribute's value.
std::string XmlText(std::string_view text);

}  // namespace foretell

#endif  // FORETELL_REPORT_TIMELINE_SVG_H_
