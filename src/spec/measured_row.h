// Records of what others measured, with the configurations that they name.
//
// Made by input/measured_rows from a file with one JSON object a line; `score`
// compares predictions with them. A row's fields are kept as they were
// written: which of them are settings and which were measured is the matter of
// each set (answers/score/score_set.h).
#ifndef FORETELL_SPEC_MEASURED_ROW_H_
#define FORETELL_SPEC_MEASURED_ROW_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "spec/config_value.h"
#include "spec/device.h"
#include "spec/model_config.h"

namespace foretell {

struct MeasuredRow {
  int64_t line = 0;    // in its file, from 1
  std::string id;      // the row's own `id`; may be empty
  ConfigValue fields;  // always an object
  std::string model;   // what the row calls its model; may be empty
  // Null where there is none; rows of one model share it.
  std::shared_ptr<const ModelConfig> config;
  std::string no_config;  // why there is none
  // How the list of aliases came to the configuration: "same",
  // "same-architecture", …; empty where the model's own id led to it.
  std::string config_how;
  // The card that the row names; null where it names none that is known.
  std::shared_ptr<const Device> device;
};

struct MeasuredRows {
  std::string source;
  std::vector<MeasuredRow> rows;
};

}  // namespace foretell

#endif  // FORETELL_SPEC_MEASURED_ROW_H_
