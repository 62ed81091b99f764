// The report of `foretell train`: the verdict, then the peak term by term, then
// what makes the job fit.
//
// In: the answer. Out: a document of TrainShape(); its names are documented in
// docs/json/train.md.
#ifndef FORETELL_REPORT_PRESENT_TRAIN_H_
#define FORETELL_REPORT_PRESENT_TRAIN_H_

#include <string_view>
#include <vector>

#include "answers/calibration.h"
#include "answers/train.h"
#include "answers/train_fits.h"
#include "report/document.h"
#include "report/shape.h"

namespace foretell {

const DocumentShape& TrainShape();

struct TrainView {
  std::string timeline_file;  // where it was written; empty where nowhere
  std::vector<CalibratedFigure> by_runs;  // often none
};
Document PresentTrain(const TrainAnswer& answer, const TrainView& view);

// The ids of the cards that PresentFits shows, in its order.
std::vector<std::string_view> CardsOfFits();

// `answer.cards` are those of CardsOfFits().
Document PresentFits(const FitsAnswer& answer);

}  // namespace foretell

#endif  // FORETELL_REPORT_PRESENT_TRAIN_H_
