// Falcon's configuration: its keys, what the class works out from them, and
// what only its forward refuses.
//
// Source: transformers 5.23, models/falcon/configuration_falcon.py and the
// constructors of modeling_falcon.py.
#ifndef FORETELL_MODELS_LAYERS_READ_FALCON_H_
#define FORETELL_MODELS_LAYERS_READ_FALCON_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "models/layers/decoder_head.h"
#include "models/layers/falcon_layer.h"
#include "models/layers/rope.h"
#include "spec/config_view.h"

namespace foretell {

struct FalconModelConfig {
  FalconConfig layer;
  int64_t layers = 0;
  int64_t vocabulary = 0;
  bool ties = true;
  bool fills_cache = false;  // the class hands no use_cache on
  std::string failure;       // why its forward fails; empty where it runs
  RopeConfig rope;
  HeadConfig head;
};

FalconModelConfig ReadFalcon(const ConfigView& config,
                             std::string_view class_name);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_READ_FALCON_H_
