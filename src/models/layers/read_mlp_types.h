// Which layers have experts, where a configuration lists it layer by layer.
//
// Source: transformers 5.23, models/{glm4_moe_lite,deepseek_v32,glm_moe_dsa}/
// configuration_*.py (mlp_layer_types).
#ifndef FORETELL_MODELS_LAYERS_READ_MLP_TYPES_H_
#define FORETELL_MODELS_LAYERS_READ_MLP_TYPES_H_

#include <cstdint>
#include <vector>

#include "spec/config_view.h"

namespace foretell {

// `mlp_layer_types` of `layers` layers: true for "sparse", and false for any
// other name. An absent or null key: all but the first `dense` layers.
std::vector<bool> ReadMlpTypes(const ConfigView& config, int64_t layers,
                               int64_t dense);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_READ_MLP_TYPES_H_
