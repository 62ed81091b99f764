// The configuration that GLM and GLM-4 share, and what it makes of a layer.
//
// Source: transformers 5.23, models/{glm,glm4}/configuration_*.py.
#ifndef FORETELL_MODELS_LAYERS_READ_GLM_H_
#define FORETELL_MODELS_LAYERS_READ_GLM_H_

#include <string_view>

#include "models/layers/attention.h"
#include "models/layers/read_decoder.h"
#include "spec/config_view.h"

namespace foretell {

struct GlmKeys {
  AttentionConfig attention;
  DecoderKeys keys;
};

GlmKeys ReadGlm(const ConfigView& config, std::string_view class_name);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_READ_GLM_H_
