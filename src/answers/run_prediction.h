// What a command's answer predicts of the figures that a run can measure.
//
// In: a request and its answer. Out: the case as runs are compared by it (the
// number of parameters is left to the caller), and its figures.
#ifndef FORETELL_ANSWERS_RUN_PREDICTION_H_
#define FORETELL_ANSWERS_RUN_PREDICTION_H_

#include <variant>

#include "answers/calibration.h"
#include "answers/refusal.h"
#include "answers/speed.h"
#include "answers/train.h"

namespace foretell {

// One figure of each kind a load; `at` names the load.
RunPrediction PredictionOf(const SpeedRequest& request,
                           const SpeedAnswer& answer);
RunPrediction PredictionOf(const TrainRequest& request,
                           const TrainMemory& memory, const TrainTime& time);

// Of a job's memory alone, without what else `train` tells.
std::variant<RunPrediction, Refusal> PredictTrain(const TrainRequest& request);

}  // namespace foretell

#endif  // FORETELL_ANSWERS_RUN_PREDICTION_H_
