// The report of `foretell models`: which models the catalogue knows.
//
// In: the answer. Out: a document of ModelsShape(), whose names are documented
// in docs/json/models.md.
#ifndef FORETELL_REPORT_PRESENT_MODELS_H_
#define FORETELL_REPORT_PRESENT_MODELS_H_

#include "answers/models.h"
#include "report/document.h"
#include "report/shape.h"

namespace foretell {

const DocumentShape& ModelsShape();

Document PresentModels(const ModelsAnswer& answer);

}  // namespace foretell

#endif  // FORETELL_REPORT_PRESENT_MODELS_H_
