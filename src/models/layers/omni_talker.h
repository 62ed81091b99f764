// What Qwen3-Omni speaks with, by its parameters: a decoder of experts over
// codes, a predictor of further codes, and a decoder of codes into a wave.
//
// Source: transformers 5.23, models/qwen3_omni_moe/modeling_qwen3_omni_moe.py
// and configuration_qwen3_omni_moe.py.
#ifndef FORETELL_MODELS_LAYERS_OMNI_TALKER_H_
#define FORETELL_MODELS_LAYERS_OMNI_TALKER_H_

#include "models/layers/module.h"
#include "spec/config_view.h"

namespace foretell {

void AddOmniTalker(const ConfigView& config, const Module& at);
void AddCodeToWave(const ConfigView& config, const Module& at);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_OMNI_TALKER_H_
