// The sets of measured records that are scored, one row each.
//
// To add a set: answers/score/<set>.cc with its `predict` and `measure`, its
// declaration in answers/score/score_sets.h and its row in
// answers/score/score_set.cc. The row names the settings that a prediction may
// see (an allow-list) and the fields that were measured; a test holds them
// apart, and holds the allow-list free of verdicts and remarks.
#ifndef FORETELL_ANSWERS_SCORE_SCORE_SET_H_
#define FORETELL_ANSWERS_SCORE_SCORE_SET_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "answers/score/score_row.h"
#include "answers/score/score_statistics.h"

namespace foretell {

// How a set's files are written.
enum class RecordForm : uint8_t {
  kJsonLines,     // input/measured_rows.h
  kKernelCurves,  // input/kernel_table.h
};

struct ScoreSet {
  std::string_view name = {};  // "weights_bytes"
  std::string_view doc = {};   // what is compared, one sentence
  // Its file in a folder of truth sets; empty: "<name>.jsonl".
  std::string_view file = {};
  // Which field of a row names its model; empty where none does.
  std::string_view model_field = "model";
  // Which names its card.
  std::string_view card_field = {};
  RecordForm form = RecordForm::kJsonLines;
  // Paths of the fields that a prediction may read.
  std::vector<std::string_view> settings = {};
  // Sees the settings and the configuration only.
  Prediction (*predict)(const ScoreInput& input) = nullptr;
  // What was measured, of the whole row; empty where nothing was. Groups may
  // be told by settings.
  std::vector<Measured> (*measure)(const ConfigValue& row) = nullptr;
  // After the comparison: why a prediction is off, where that can be told.
  // May be null.
  std::string (*explain)(const ScoreInput& input, const Score& score) = nullptr;
  // Figures that need all rows at once (orders of pairs, recall). May be null.
  void (*finish)(const std::vector<Score>& scores,
                 ScoreGroups& groups) = nullptr;
  // A file beside the scored one with another tool's predictions; empty: none.
  std::string_view peer_file = {};
};

// In the order in which they are listed.
std::span<const ScoreSet> ScoreSets();

// Null where there is none.
const ScoreSet* FindScoreSet(std::string_view name);

// Every set's name, for the command line.
std::vector<std::string_view> ScoreSetNames();

}  // namespace foretell

#endif  // FORETELL_ANSWERS_SCORE_SCORE_SET_H_
