// The report of `foretell model`: what a model is made of.
//
// In: the answer and what to show beside the figures. Out: a document of
// ModelShape(), whose names are documented in docs/json/model.md.
#ifndef FORETELL_REPORT_PRESENT_MODEL_H_
#define FORETELL_REPORT_PRESENT_MODEL_H_

#include <cstddef>

#include "answers/model.h"
#include "report/document.h"
#include "report/shape.h"

namespace foretell {

const DocumentShape& ModelShape();

// What to show beside the figures.
struct ModelView {
  bool tensors = false;
  bool equation = false;
  // Rows of differences with a checkpoint.
  size_t most_differences = 20;
};

Document PresentModel(const ModelAnswer& answer, const ModelView& view);

}  // namespace foretell

#endif  // FORETELL_REPORT_PRESENT_MODEL_H_
