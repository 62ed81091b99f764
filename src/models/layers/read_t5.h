// T5's configuration: its keys, their other names, and what the class works out
// as it loads.
//
// Source: transformers 5.23, models/t5/configuration_t5.py.
#ifndef FORETELL_MODELS_LAYERS_READ_T5_H_
#define FORETELL_MODELS_LAYERS_READ_T5_H_

#include <cstdint>
#include <optional>

#include "models/layers/classification.h"
#include "models/layers/t5_attention.h"
#include "spec/config_view.h"

namespace foretell {

// What the class's head reads beside the base model's keys.
struct T5Needs {
  bool labels = false;
  bool classifier_dropout = false;
};

struct T5Config {
  T5LayerConfig layer;
  int64_t vocabulary = 0;
  int64_t encoder_layers = 0;
  int64_t decoder_layers = 0;
  bool is_decoder = false;  // heeded by an encoder that stands alone
  bool tie_embeddings = true;
  bool scale_outputs = true;
  double classifier_dropout = 0;
  LabelConfig labels;
  std::optional<int64_t> padding;
  std::optional<int64_t> start;
};

T5Config ReadT5(const ConfigView& config, const T5Needs& needs);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_READ_T5_H_
