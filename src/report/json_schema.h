// The JSON Schema (2020-12) of a document's JSON, made from its shape.
//
// `foretell schema COMMAND` prints it and docs/json/ keeps it. What the shape
// marks as optional is not required; nothing else may appear.
#ifndef FORETELL_REPORT_JSON_SCHEMA_H_
#define FORETELL_REPORT_JSON_SCHEMA_H_

#include <string>

#include "report/shape.h"

namespace foretell {

std::string JsonSchema(const DocumentShape& shape);

// Of what --json prints where the input cannot be read (exit status 2).
std::string ErrorsJsonSchema();

}  // namespace foretell

#endif  // FORETELL_REPORT_JSON_SCHEMA_H_
