// BART's configuration: its keys, their aliases, and what the class refuses.
//
// Source: transformers 5.23, models/bart/configuration_bart.py and the
// constructors of modeling_bart.py.
#ifndef FORETELL_MODELS_LAYERS_READ_BART_H_
#define FORETELL_MODELS_LAYERS_READ_BART_H_

#include <cstdint>
#include <optional>

#include "models/layers/bart_stack.h"
#include "models/layers/classification.h"
#include "spec/config_view.h"

namespace foretell {

// What the class has beside a decoder.
struct BartNeeds {
  bool encoder = false;
  bool sequence_head = false;
};

struct BartConfig {
  BartStackConfig encoder;
  BartStackConfig decoder;
  std::optional<int64_t> padding;
  std::optional<int64_t> start;  // decoder_start_token_id
  double classifier_dropout = 0;
  bool tie_embeddings = true;
  LabelConfig labels;
};

BartConfig ReadBart(const ConfigView& config, const BartNeeds& needs);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_READ_BART_H_
