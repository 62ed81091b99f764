// The Omni models' encoders of sounds, by their parameters: Whisper's layers
// behind two or three convolutions, with sinusoids that are no parameters.
//
// Source: transformers 5.23, models/qwen2_5_omni/modeling_qwen2_5_omni.py and
// models/qwen3_omni_moe/modeling_qwen3_omni_moe.py.
#ifndef FORETELL_MODELS_LAYERS_OMNI_AUDIO_H_
#define FORETELL_MODELS_LAYERS_OMNI_AUDIO_H_

#include "models/layers/module.h"
#include "spec/config_view.h"

namespace foretell {

void AddQwen25OmniAudio(const ConfigView& config, const Module& at);
void AddQwen3OmniAudio(const ConfigView& config, const Module& at);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_OMNI_AUDIO_H_
