// The settings that a recorded launch ends with, by the engine's own rules.
//
// In: what a scored row says: the words after the model, the version, the
// card. Out: settings, the card, and the configuration with what the launch
// overrides.
#ifndef FORETELL_ANSWERS_SCORE_LAUNCH_WORDS_H_
#define FORETELL_ANSWERS_SCORE_LAUNCH_WORDS_H_

#include <optional>
#include <string>
#include <vector>

#include "answers/score/score_row.h"
#include "spec/model_config.h"
#include "spec/serving.h"

namespace foretell {

struct RecordedLaunch {
  ServingSettings settings;
  ServingCard card;
  ModelConfig model;
  bool is_length_fitted = false;  // --max-model-len auto
};

// Nothing where the catalogue lacks the card. `argv` begins with the model,
// whose configuration is `model`; where that is null, the one of that id, else
// the row's.
std::optional<RecordedLaunch> ReadRecordedLaunch(
    const ScoreInput& input, const std::vector<std::string>& argv,
    const std::string& card, EngineVersion version, int64_t cards,
    const ModelConfig* model = nullptr);

}  // namespace foretell

#endif  // FORETELL_ANSWERS_SCORE_LAUNCH_WORDS_H_
