// DeBERTa-v2's configuration, which is also v3's: its keys, those that the
// class reads without declaring them, and what it refuses.
//
// Source: transformers 5.23, models/deberta_v2/configuration_deberta_v2.py and
// the constructors of modeling_deberta_v2.py.
#ifndef FORETELL_MODELS_LAYERS_READ_DEBERTA_H_
#define FORETELL_MODELS_LAYERS_READ_DEBERTA_H_

#include <cstdint>
#include <optional>

#include "models/layers/classification.h"
#include "models/layers/deberta_layer.h"
#include "spec/config_view.h"

namespace foretell {

// What the class's head reads beside the base model's keys.
struct DebertaNeeds {
  bool vocabulary_head = false;
  bool labels = false;
  bool pooler = false;
};

struct DebertaConfig {
  DebertaStackConfig stack;
  std::optional<int64_t> padding;
  bool legacy = true;  // the head over the vocabulary is v2's
  bool tie_embeddings = true;
  int64_t pooler_width = 0;
  double pooler_dropout = 0;
  std::optional<Activation> pooler_activation;
  double classifier_dropout = 0;
  LabelConfig labels;
};

DebertaConfig ReadDeberta(const ConfigView& config, const DebertaNeeds& needs);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_READ_DEBERTA_H_
