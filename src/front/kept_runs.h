// The user's own measured runs, where a command predicts: read from their
// file, predicted anew, and held against the case at hand.
//
// In: a parsed command line and what it predicts. Out: corrected figures; none
// where no run is comparable. Throws InputErrors where the file is unreadable.
#ifndef FORETELL_FRONT_KEPT_RUNS_H_
#define FORETELL_FRONT_KEPT_RUNS_H_

#include <string>
#include <vector>

#include "answers/calibration.h"
#include "front/command_table.h"
#include "front/invocation.h"
#include "input/source_runs.h"
#include "spec/model_config.h"

namespace foretell {

// --runs FILE.
OptionRow RunsRow();

// The file that is named, or the usual one; throws where there is neither.
RunStore StoreOf(const Invocation& invocation);

struct PredictedJob {
  RunPrediction prediction;
  ModelConfig config;
};

// What Foretell predicts for a command line of its own, given as the words
// after the program's name. A hub is asked only where `may_ask`. Throws
// InputErrors where it cannot be predicted.
PredictedJob PredictWords(const std::vector<std::string>& words,
                          bool may_ask = true);

// Of a model, or 0 where they are not derived.
double ParametersOf(const ModelConfig& config);

// `config` is the case's model. Runs that can no longer be predicted are
// passed over, and named in a note on stderr.
std::vector<CalibratedFigure> CalibratedFor(const Invocation& invocation,
                                            RunPrediction prediction,
                                            const ModelConfig& config);

}  // namespace foretell

#endif  // FORETELL_FRONT_KEPT_RUNS_H_
