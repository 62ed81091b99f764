// A model on cards in training, as the formula of a step's time takes it.
//
// In: a shape, a card, what is multiplied in which format, the loop, the
// layout; each in plain words or numbers. Out: the job with every assumption
// in words, or what is missing. Pure.
#ifndef FORETELL_ANSWERS_TRAINED_JOB_H_
#define FORETELL_ANSWERS_TRAINED_JOB_H_

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "analysis/timing/training_phases.h"
#include "base/figure.h"
#include "spec/device.h"

namespace foretell {

struct TrainedRequest {
  ServedShape shape;
  const Device* device = nullptr;
  TrainedFormat format = TrainedFormat::kHalf;
  TrainedLoop loop = TrainedLoop::kEager;
  double network_gbs = 0;  // of a card beyond its machine; 0: as assumed
};

struct TrainedSetting {
  TrainedJob job;  // with what the card gives; its layout is the caller's
  std::vector<std::string> assumed;
};

// The text says what is missing.
std::variant<TrainedSetting, std::string> TrainedSettingOf(
    const TrainedRequest& in);

// "BF16", "MXFP8", "bf16-true + nf4", "fp32/tf32"; words that no rule knows are
// half precision.
TrainedFormat TrainedFormatOf(std::string_view words);

// `value` in seconds, tokens or FLOPs a second, with its 90 % interval.
AnyFigure TrainedFigure(Unit unit, double value, const TrainedJob& job);

}  // namespace foretell

#endif  // FORETELL_ANSWERS_TRAINED_JOB_H_
