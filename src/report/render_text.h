// A document for a terminal: labels and values, tables, bars, findings.
//
// Lines stay within the style's width, wrapping what is longer; nothing is
// cut. Numbers stand right-aligned with thousands separators, figures with
// their mark (report/figure_text.h). All texts are made harmless. Colour is
// used for the severities of findings only.
#ifndef FORETELL_REPORT_RENDER_TEXT_H_
#define FORETELL_REPORT_RENDER_TEXT_H_

#include <string>

#include "report/document.h"
#include "report/render.h"

namespace foretell {

std::string RenderText(const Document& document, const TextStyle& style = {});

}  // namespace foretell

#endif  // FORETELL_REPORT_RENDER_TEXT_H_
