// ModernBERT's configuration: its keys and what the class refuses.
//
// Source: transformers 5.23, models/modernbert/configuration_modernbert.py and
// the constructors of modeling_modernbert.py.
#ifndef FORETELL_MODELS_LAYERS_READ_MODERNBERT_H_
#define FORETELL_MODELS_LAYERS_READ_MODERNBERT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "models/layers/activation.h"
#include "models/layers/classification.h"
#include "spec/config_view.h"

namespace foretell {

struct ModernBertConfig {
  int64_t width = 0;
  int64_t heads = 0;
  int64_t head_dim = 0;
  int64_t inner = 0;
  int64_t vocabulary = 0;
  int64_t positions = 0;
  int64_t layers = 0;
  int64_t frequencies = 0;
  int64_t window = 0;        // how far a sliding layer looks, either way
  std::vector<bool> slides;  // per layer
  bool any_full = false;
  bool any_window = false;
  bool turns_plainly = true;  // both ropes are of the default type
  Activation activation = Activation::kGelu;
  Activation classifier_activation = Activation::kGelu;
  double norm_epsilon = 0;
  bool norm_bias = false;
  bool attention_bias = false;
  bool mlp_bias = false;
  bool decoder_bias = true;
  bool classifier_bias = false;
  bool sparse_prediction = false;
  bool pools_mean = false;
  double attention_dropout = 0;
  double embedding_dropout = 0;
  double mlp_dropout = 0;
  double classifier_dropout = 0;
  bool tie_embeddings = true;
  LabelConfig labels;
};

// What the class's head reads beside the base model's keys.
struct ModernBertNeeds {
  bool head = false;
  bool labels = false;
  bool classifier_dropout = false;
};

ModernBertConfig ReadModernBert(const ConfigView& config,
                                const ModernBertNeeds& needs);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_READ_MODERNBERT_H_
