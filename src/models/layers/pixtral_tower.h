// Pixtral's vision tower by its parameters: patches, and layers of attention
// and a gated feed-forward behind RMSNorms, without biases.
//
// Source: transformers 5.23, models/pixtral/modeling_pixtral.py.
#ifndef FORETELL_MODELS_LAYERS_PIXTRAL_TOWER_H_
#define FORETELL_MODELS_LAYERS_PIXTRAL_TOWER_H_

#include <cstdint>

#include "models/layers/module.h"
#include "spec/config_view.h"

namespace foretell {

// The tower's width.
int64_t AddPixtralTower(const ConfigView& config, const Module& at);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_PIXTRAL_TOWER_H_
