// Gemma 4's towers for images and for sounds, by their parameters: linears
// that may clip, by bounds from the checkpoint, and a conformer.
//
// In: the tower's configuration. Out: its modules below `at`. Errors: problems
// and findings in the configuration's log.
// Source: transformers 5.23, models/gemma4/modeling_gemma4.py and
// configuration_gemma4.py (Gemma4VisionConfig, Gemma4AudioConfig).
#ifndef FORETELL_MODELS_LAYERS_GEMMA4_TOWERS_H_
#define FORETELL_MODELS_LAYERS_GEMMA4_TOWERS_H_

#include <cstdint>

#include "models/layers/module.h"
#include "spec/config_view.h"

namespace foretell {

// Both give the width that joins the tower to the text model.
int64_t AddGemma4VisionTower(const ConfigView& config, const Module& at);
int64_t AddGemma4AudioTower(const ConfigView& config, const Module& at);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_GEMMA4_TOWERS_H_
