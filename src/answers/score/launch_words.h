// Settings of a recorded launch, from its words: enough for a scored row until
// the engine's own resolution answers all of it.
//
// In: `argv`, the configuration, the card's name. Out: settings and card.
#ifndef FORETELL_ANSWERS_SCORE_LAUNCH_WORDS_H_
#define FORETELL_ANSWERS_SCORE_LAUNCH_WORDS_H_

#include <string>
#include <vector>

#include "spec/model_config.h"
#include "spec/serving.h"

namespace foretell {

struct RecordedLaunch {
  ServingSettings settings;
  ServingCard card;
  bool is_length_fitted = false;
};

RecordedLaunch ReadRecordedLaunch(const std::vector<std::string>& argv,
                                  const ModelConfig& config,
                                  const std::string& card,
                                  const std::string& version);

}  // namespace foretell

#endif  // FORETELL_ANSWERS_SCORE_LAUNCH_WORDS_H_
