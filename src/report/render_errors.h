// Errors of input for people and for programs.
//
// As text: what base/input_error.h prints, made harmless, each with its caret
// and cure. As JSON: {"errors": [{"place": {…}, "what": …, "cure": …}]}.
#ifndef FORETELL_REPORT_RENDER_ERRORS_H_
#define FORETELL_REPORT_RENDER_ERRORS_H_

#include <string>

#include "base/input_error.h"

namespace foretell {

std::string RenderErrorsText(const InputErrors& errors);
std::string RenderErrorsJson(const InputErrors& errors);

}  // namespace foretell

#endif  // FORETELL_REPORT_RENDER_ERRORS_H_
