// One recorded start of vLLM as its row states it.
//
// In: a row of the set `vllm_memory`: fields of its own, and a launch line that
// may be a command, or words that someone wrote down about one. Out: the
// settings that the launch ends with, the card and its total, and what the row
// does not state. Only flags that stand whole are taken from the line.
#ifndef FORETELL_ANSWERS_SCORE_VLLM_START_H_
#define FORETELL_ANSWERS_SCORE_VLLM_START_H_

#include <optional>
#include <string>

#include "answers/score/launch_words.h"
#include "answers/score/score_row.h"
#include "base/figure.h"
#include "spec/model_config.h"

namespace foretell {

struct RecordedStart {
  // Empty where the row states what an account needs, else why it does not.
  std::string lacks;
  ModelConfig config;  // quantized as the row says
  RecordedLaunch launch;
  Bytes total;
  bool is_v1 = true;
  bool is_nvidia = true;
  bool is_amd = false;
  // The launch is a command with all its flags, or says what share of the
  // card's memory the engine takes.
  bool states_share = true;
  // Printed tokens follow from the printed GiB: one stage, and the served
  // length where they depend on it.
  bool states_print = true;
};

RecordedStart ReadRecordedStart(const ScoreInput& input);

}  // namespace foretell

#endif  // FORETELL_ANSWERS_SCORE_VLLM_START_H_
