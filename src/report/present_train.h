// The report of `foretell train`: the verdict, then the peak term by term, then
// what makes the job fit.
//
// In: the answer. Out: a document of TrainShape(); its names are documented in
// docs/json/train.md.
#ifndef FORETELL_REPORT_PRESENT_TRAIN_H_
#define FORETELL_REPORT_PRESENT_TRAIN_H_

#include "answers/train.h"
#include "report/document.h"
#include "report/shape.h"

namespace foretell {

const DocumentShape& TrainShape();

Document PresentTrain(const TrainAnswer& answer);

}  // namespace foretell

#endif  // FORETELL_REPORT_PRESENT_TRAIN_H_
