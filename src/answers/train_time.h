// How long a training job's step takes, what limits it, and what a whole run
// costs in time, money, energy and carbon.
//
// In: the model that was built, the job, the card, and what is said of the run
// (spec/run_costs.h). Out: figures with 90 % intervals; a figure whose input is
// missing is unknown and says what is missing, never zero. The wait for data
// is not in a step. Pure.
#ifndef FORETELL_ANSWERS_TRAIN_TIME_H_
#define FORETELL_ANSWERS_TRAIN_TIME_H_

#include <string>
#include <vector>

#include "answers/read_model.h"
#include "base/figure.h"
#include "spec/device.h"
#include "spec/model_config.h"
#include "spec/run_costs.h"
#include "spec/training_job.h"

namespace foretell {

struct TrainTimePart {
  std::string part;
  AnyFigure seconds = AnyFigure::Unknown(Unit::kSeconds, "not known");
};

struct TrainTimeGain {
  std::string resource;
  double step = 0;   // seconds, with twice of it
  double times = 1;  // as fast as before
};

// A figure of the whole run, in a unit of its own.
struct TrainRunFigure {
  std::string what;  // "run time"
  std::string unit;  // "hours"
  AnyFigure value = AnyFigure::Unknown(Unit::kCount, "not known");
};

struct TrainListPrice {
  std::string cloud;  // "aws, p5.48xlarge"
  std::string date;
  double usd_an_hour = 0;                                         // of one card
  AnyFigure run = AnyFigure::Unknown(Unit::kCount, "not known");  // dollars
};

struct TrainTime {
  std::string missing;  // why there is none; empty where there is one
  AnyFigure step = AnyFigure::Unknown(Unit::kSeconds, "not known");
  AnyFigure rate = AnyFigure::Unknown(Unit::kTokens, "not known");
  double utilisation = 0;  // of the peak, by the model's FLOPs
  double low = 0;
  double high = 0;
  std::string limit;  // "arithmetic"
  std::vector<TrainTimePart> phases;
  std::vector<TrainTimePart> parts;  // by what the time goes to
  std::vector<TrainTimeGain> gains;
  std::vector<TrainRunFigure> run;
  std::vector<TrainListPrice> prices;
  std::vector<std::string> assumed;
};

struct TrainTimeRequest {
  const ReadModel* model = nullptr;
  const ModelConfig* config = nullptr;
  const TrainingJob* job = nullptr;
  const Device* device = nullptr;
  const RunCosts* costs = nullptr;
  double trained_share = 1;  // of the parameters
};

TrainTime TimeOfTraining(const TrainTimeRequest& in);

}  // namespace foretell

#endif  // FORETELL_ANSWERS_TRAIN_TIME_H_
