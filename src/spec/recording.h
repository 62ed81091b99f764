// What PyTorch itself said of a model: one row of a parameter recording.
//
// Made by tools/pytorch/record.py; `verify` compares a derived model with it.
// Names are folded: "#" stands for an index, and `indices` lists what the
// indices range over, position by position ("0-23 x 0").
#ifndef FORETELL_SPEC_RECORDING_H_
#define FORETELL_SPEC_RECORDING_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/shape.h"
#include "spec/model_config.h"
#include "spec/rank_case.h"
#include "spec/step_case.h"

namespace foretell {

struct RecordedTensor {
  std::string name;     // folded: "model.layers.#.mlp.up_proj.weight"
  std::string indices;  // "0-35", "0-23 x 0-1"; empty where no index
  Shape shape;
  int64_t count = 1;  // how many tensors the folded name stands for
  std::string dtype;  // short name; empty for parameters
};

struct RecordedTie {
  std::string name;    // "lm_head.weight"
  std::string target;  // "model.embed_tokens.weight"
};

// One change to a configuration: {"rope_parameters", "factor"} and its value.
struct Override {
  std::vector<std::string> path;
  std::optional<ConfigValue> value;  // nothing: the key is taken out
  int64_t offset = 0;                // of the item in the text it came from
};

// Applies them in order, making objects on the way where there are none. A
// step into a value that is no object replaces it.
void ApplyOverrides(const std::vector<Override>& overrides, ConfigValue& root);

// What was measured of one step; a field is absent where the row has none.
struct RecordedStep {
  // By operator ("aten.mm"), grouped products included.
  std::map<std::string, int64_t> flops_forward;
  std::map<std::string, int64_t> flops_backward;
  // Figures under the names that `verify` reports them by: "saved_bytes",
  // "peak_forward", …
  std::map<std::string, int64_t> figures;
};

// One rank's share of a step that is divided by data.
struct RecordedRank {
  RankCase rank;
  // Settings that nothing here follows; then no figure is claimed.
  std::vector<std::string> unfollowed;
  RecordedStep step;  // its figures are the rank's
  // "allgather_base bf16 4096 of 8, forward, 2 times"
  std::vector<std::string> collectives;
};

struct Recording {
  std::string key;     // the row's own key
  int64_t line = 0;    // in its file, from 1
  std::string config;  // label of the configuration: "Qwen--Qwen3-8B"
  // The row's `edit`: set on the configuration before it is loaded, as if the
  // file said so. A truth set's configurations have them applied.
  std::vector<Override> edits;
  // The row's `over`: set on the loaded configuration, where what the class
  // worked out from other keys stays as it was. Families know those values, so
  // `answers` applies these, not `input`.
  std::vector<Override> overrides;
  std::string asked_class;  // the class that was asked for; may be empty
  std::string error;        // why PyTorch gave nothing; other fields then empty
  std::string class_name;
  std::string library;  // "transformers 5.23.0"
  int64_t parameters = 0;
  std::vector<RecordedTensor> tensors;
  std::vector<RecordedTensor> buffers;
  std::vector<RecordedTie> ties;
  bool has_tensors = false;  // false for recordings of steps
  StepCase step;
  std::optional<RecordedStep> recorded_step;
  std::optional<RecordedRank> recorded_rank;  // of a step that is divided
};

// Recordings with the configurations that they name; what scoring reads.
struct TruthCase {
  Recording recording;
  std::optional<ModelConfig> config;  // edits applied, overrides not yet
  std::string no_config;              // why there is none
};

struct TruthSet {
  std::string source;
  std::vector<TruthCase> cases;
};

}  // namespace foretell

#endif  // FORETELL_SPEC_RECORDING_H_
