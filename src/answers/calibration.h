// What a user's own measured runs say about a prediction.
//
// In: a case and its predicted figures; comparable runs, each with what is
// predicted for it now. Out: for each figure the prediction as it is, and the
// prediction corrected by the runs, with its own 90 % interval.
//
// The correction is the conditional mean of a normal error. The logarithm of
// measured over predicted has the deviation that the prediction's interval
// states; two cases share a part of that variance: all where it is the same
// case, about a third where the model is the same, a tenth where only the card
// is. So a run of the same case moves a prediction nearly all the way, one of
// another part of it, and the interval shrinks only as far as that is
// justified. tools/fit/run_shares.py estimates the shares from published runs.
#ifndef FORETELL_ANSWERS_CALIBRATION_H_
#define FORETELL_ANSWERS_CALIBRATION_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/figure.h"
#include "spec/measured_run.h"

namespace foretell {

// A figure that a run can measure.
struct RunFigureKind {
  std::string_view name;   // "tpot_ms"
  std::string_view label;  // "Further token"
  std::string_view unit;   // "ms", as users write it
  Unit measure;            // of predictions
  double scale;            // of a written value in `measure`: 1e-3
};

// Every kind, of all commands.
std::span<const RunFigureKind> RunFigureKinds();
const RunFigureKind* FindRunFigureKind(std::string_view name);

struct PredictedFigure {
  std::string name;  // of a RunFigureKind
  std::string at;    // "8 requests"; empty where a case has one of the kind
  AnyFigure value;
};

// What a command predicts for one case.
struct RunPrediction {
  RunFacts facts;
  std::vector<PredictedFigure> figures;
};

// A kept run, and what is predicted for it now.
struct KnownRun {
  MeasuredRun run;
  std::vector<PredictedFigure> predicted;
};

struct CalibratedFigure {
  std::string name;
  std::string at;
  AnyFigure predicted;
  AnyFigure calibrated;
  int64_t runs = 0;     // that it rests on
  std::string nearest;  // "run 3: 21.4 ms, predicted 19.8 ms"
};

// Whether a run says anything about the case: the same command, card and
// manner, at a comparable scale: within four times the parameters and the
// cards.
bool IsComparable(const RunFacts& run, const RunFacts& wanted);

// One entry a predicted figure that at least one run measured and that is no
// exact one; runs that are not comparable are passed over.
std::vector<CalibratedFigure> CalibratedBy(const std::vector<KnownRun>& runs,
                                           const RunPrediction& prediction);

}  // namespace foretell

#endif  // FORETELL_ANSWERS_CALIBRATION_H_
