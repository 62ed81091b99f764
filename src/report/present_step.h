// The report of `foretell step`: what one step takes, where its peak is, and
// what lives then.
//
// In: the answer and what was asked to be shown. Out: a document of
// StepShape(), whose names are documented in docs/json/step.md.
#ifndef FORETELL_REPORT_PRESENT_STEP_H_
#define FORETELL_REPORT_PRESENT_STEP_H_

#include <string>

#include "answers/step.h"
#include "report/document.h"
#include "report/shape.h"

namespace foretell {

const DocumentShape& StepShape();

struct StepView {
  bool by_region = true;
  bool by_operator = false;
  // The convention of FLOPs that the others are set beside: "6ND"; empty where
  // none was asked for.
  std::string reconcile;
  std::string timeline_file;  // where it was written; empty where nowhere
};

Document PresentStep(const StepAnswer& answer, const StepView& view);

// "in the backward, as aten.mm.default of lm_head ran (operation 7 of 900)"
std::string DescribeMoment(const StepMoment& moment, int64_t operations);

}  // namespace foretell

#endif  // FORETELL_REPORT_PRESENT_STEP_H_
