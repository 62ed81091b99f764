// Mamba's configuration: its keys, what the class works out from them, and
// what it refuses.
//
// Source: transformers 5.23, models/mamba/configuration_mamba.py and the
// constructors of modeling_mamba.py.
#ifndef FORETELL_MODELS_LAYERS_READ_MAMBA_H_
#define FORETELL_MODELS_LAYERS_READ_MAMBA_H_

#include <cstdint>

#include "models/layers/mamba_mixer.h"
#include "models/layers/mamba_stack.h"
#include "spec/config_view.h"

namespace foretell {

using MambaConfig = MambaStackConfig<MambaMixerConfig>;

// `time_step_rank`: a number, or "auto": a sixteenth of the width, worked out
// as the file is read. The layers take a number in quotes, too.
int64_t ReadStepRank(const ConfigView& config, int64_t hidden, int64_t layers);

// The kinds of the layers are a property of the class, which nothing sets.
void CheckRecurrentLayers(const ConfigView& config);

MambaConfig ReadMamba(const ConfigView& config);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_READ_MAMBA_H_
