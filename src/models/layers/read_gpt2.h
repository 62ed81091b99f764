// GPT-2's configuration: its keys, their other names, and what the class
// refuses.
//
// Source: transformers 5.23, models/gpt2/configuration_gpt2.py and the
// constructors of modeling_gpt2.py.
#ifndef FORETELL_MODELS_LAYERS_READ_GPT2_H_
#define FORETELL_MODELS_LAYERS_READ_GPT2_H_

#include <cstdint>
#include <optional>

#include "models/layers/classification.h"
#include "models/layers/gpt2_block.h"
#include "models/layers/gpt2_summary.h"
#include "spec/config_view.h"

namespace foretell {

// What the class's head reads beside the base model's keys.
struct Gpt2Needs {
  bool labels = false;
  bool classifier_dropout = false;
  bool summary = false;
};

struct Gpt2Config {
  Gpt2BlockConfig block;
  int64_t vocabulary = 0;
  int64_t positions = 0;
  int64_t layers = 0;
  double embedding_dropout = 0;
  double classifier_dropout = 0.1;
  bool tie_embeddings = true;
  bool uses_cache = true;  // what holds where a class takes no use_cache
  LabelConfig labels;
  std::optional<int64_t> padding;
  Gpt2SummaryConfig summary;
};

Gpt2Config ReadGpt2(const ConfigView& config, const Gpt2Needs& needs);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_READ_GPT2_H_
