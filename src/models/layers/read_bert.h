// BERT's configuration: its keys and what the class refuses.
//
// Source: transformers 5.23, models/bert/configuration_bert.py and the
// constructors of modeling_bert.py.
#ifndef FORETELL_MODELS_LAYERS_READ_BERT_H_
#define FORETELL_MODELS_LAYERS_READ_BERT_H_

#include <cstdint>

#include "models/layers/bert_layer.h"
#include "models/layers/classification.h"
#include "spec/config_view.h"

namespace foretell {

// What the class's head reads beside the base model's keys.
struct BertNeeds {
  bool activation = false;  // outside the layers
  bool labels = false;
  bool classifier_dropout = false;
};

struct BertConfig {
  BertLayerConfig layer;
  int64_t vocabulary = 0;
  int64_t positions = 0;
  int64_t types = 0;
  int64_t layers = 0;
  double classifier_dropout = 0;
  bool tie_embeddings = true;
  LabelConfig labels;
};

BertConfig ReadBert(const ConfigView& config, const BertNeeds& needs);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_READ_BERT_H_
