// The part of `foretell train`'s report that tells time, cost and energy.
//
// In: the answer's time. Out: sections of TrainShape(), and their rows in a
// document of that shape.
#ifndef FORETELL_REPORT_PRESENT_TRAIN_TIME_H_
#define FORETELL_REPORT_PRESENT_TRAIN_TIME_H_

#include "answers/train_time.h"
#include "report/document.h"
#include "report/shape.h"

namespace foretell {

SectionShape TrainTimeSection();
SectionShape TrainRunSection();

void AddTrainTime(const TrainTime& time, Document& document);

}  // namespace foretell

#endif  // FORETELL_REPORT_PRESENT_TRAIN_TIME_H_
