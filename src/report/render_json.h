// A document as JSON, as its schema (report/json_schema.h) says.
//
// A figure is {"value", "unit", "provenance"}, with "low" and "high" where it
// has an interval, "missing" where it is unknown (then "value" is null and
// "low", where given, is its known part), and "source" where one is known.
// Exact values are whole numbers with all their digits; readers in languages
// whose numbers are doubles lose digits past 2^53.
#ifndef FORETELL_REPORT_RENDER_JSON_H_
#define FORETELL_REPORT_RENDER_JSON_H_

#include <string>
#include <string_view>

#include "base/figure.h"
#include "report/document.h"

namespace foretell {

std::string RenderJson(const Document& document);

// The unit's name in JSON: that of base/figure.h, and "count" for plain
// numbers.
std::string_view JsonNameOf(Unit unit);

}  // namespace foretell

#endif  // FORETELL_REPORT_RENDER_JSON_H_
