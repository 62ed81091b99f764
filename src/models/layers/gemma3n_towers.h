// Gemma 3n's towers: MobileNet V5 for images, of one form, and a conformer for
// sounds. By their parameters alone.
//
// Source: timm 1.0.31, models/mobilenetv5.py (mobilenetv5_300m_enc) and
// models/_efficientnet_builder.py; transformers 5.23,
// models/gemma3n/modeling_gemma3n.py (Gemma3nAudioEncoder).
#ifndef FORETELL_MODELS_LAYERS_GEMMA3N_TOWERS_H_
#define FORETELL_MODELS_LAYERS_GEMMA3N_TOWERS_H_

#include "models/layers/module.h"
#include "spec/config_view.h"

namespace foretell {

void AddGemma3nVisionTower(const ConfigView& config, const Module& at);
void AddGemma3nAudioTower(const ConfigView& config, const Module& at);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_GEMMA3N_TOWERS_H_
