// GPT-Neo's configuration: its keys, their other names, and what the class
// refuses.
//
// Source: transformers 5.23, models/gpt_neo/configuration_gpt_neo.py and the
// constructors of modeling_gpt_neo.py.
#ifndef FORETELL_MODELS_LAYERS_READ_GPT_NEO_H_
#define FORETELL_MODELS_LAYERS_READ_GPT_NEO_H_

#include <cstdint>
#include <string_view>

#include "models/layers/activation.h"
#include "models/layers/decoder_head.h"
#include "models/layers/whole_heads.h"
#include "spec/config_view.h"

namespace foretell {

struct GptNeoConfig {
  WholeHeads heads;
  int64_t layers = 0;
  int64_t inner = 0;
  int64_t vocabulary = 0;
  int64_t positions = 0;
  Activation activation = Activation::kGeluNew;
  double norm_epsilon = 0;
  double attention_dropout = 0;
  double residual_dropout = 0;
  double embedding_dropout = 0;
  bool ties = true;
  bool fills_cache = false;  // the class hands no use_cache on
  HeadConfig head;
};

GptNeoConfig ReadGptNeo(const ConfigView& config, std::string_view class_name);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_READ_GPT_NEO_H_
