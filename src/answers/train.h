// `foretell train`: whether a training job fits its card, what fills it, and
// what makes it fit.
//
// In: a configuration, how the model is built, the job (its step's dtype is
// the built model's) and the card. Out: the
// verdict with its margin, the peak term by term, the largest micro-batch that
// fits with the accumulation that keeps the global batch, and what each other
// change would give, the least invasive first; or a refusal where the job
// cannot be compiled.
//
// The job fits where its tensors, the workspaces of libraries and what lies
// outside the allocator stay below the card's total; holes of the allocator do
// not decide, since it gives cached blocks back before it fails.
#ifndef FORETELL_ANSWERS_TRAIN_H_
#define FORETELL_ANSWERS_TRAIN_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "answers/refusal.h"
#include "answers/train_host.h"
#include "answers/train_memory.h"
#include "answers/train_stages.h"
#include "answers/train_time.h"
#include "base/figure.h"
#include "base/finding.h"
#include "models/build.h"
#include "spec/device.h"
#include "spec/model_config.h"
#include "spec/run_costs.h"
#include "spec/training_job.h"

namespace foretell {

enum class Fit : uint8_t { kFits, kDoesNotFit, kCannotTell };
std::string_view NameOf(Fit fit);  // "fits", "does not fit", "cannot tell"

struct FitVerdict {
  Fit fit = Fit::kCannotTell;
  bool likely = false;  // the best value fits, whatever the interval says
  Bytes needed;         // what decides
  Bytes available;      // the card's total
  // Of the best values; negative where the job does not fit.
  std::optional<int64_t> margin;
};

// Whether `memory` fits `device`.
FitVerdict JudgeFit(const TrainMemory& memory, const Device& device);

struct Lever {
  std::string what;    // "checkpoint every block"
  std::string option;  // "--checkpoint full"
  Bytes needed;
  int64_t saved = 0;     // of the best value; negative where it costs
  double flops = 1;      // of the step, over the job's own
  std::string training;  // how it changes what is trained; empty: it does not
  FitVerdict verdict;
};

struct TrainRequest {
  ModelConfig config;
  BuildOptions build;
  TrainingJob job;
  Device device;
  std::optional<int64_t>
      global_batch;                // sequences of all cards and micro-steps
  RunCosts costs;                  // of the whole run
  std::optional<double> host_gib;  // memory of the host
  size_t most_points = 0;          // of each stage's timeline; 0: none is made
};

struct TrainAnswer {
  bool is_compiled = false;  // else a finding blocks, and there is no verdict
  std::string name;
  std::string class_name;
  std::string setting;
  std::string device;
  FitVerdict verdict;
  TrainMemory memory;
  // The largest micro-batch that is likely to fit; nothing where none does.
  std::optional<int64_t> largest_batch;
  // Micro-steps of `fitting_batch` sequences that keep the global batch.
  std::optional<int64_t> accumulate;
  int64_t fitting_batch = 0;
  int64_t candidates = 0;  // that were compiled to find it
  std::vector<TrainStage> stages;
  TrainHost host;
  TrainTime time;
  std::vector<Lever> levers;
  std::vector<std::string> assumptions;
  std::vector<Finding> findings;
  std::vector<std::string> rules_ran;
  std::vector<std::pair<std::string, std::string>> rules_not_run;
};

std::variant<TrainAnswer, Refusal> AnswerTrain(TrainRequest request);

struct TrainFigures {
  TrainMemory memory;
  TrainTime time;
};

// The job's memory and time, without judging it or looking for other jobs.
std::variant<TrainFigures, Refusal> FiguresOfRequest(TrainRequest request);

}  // namespace foretell

#endif  // FORETELL_ANSWERS_TRAIN_H_
