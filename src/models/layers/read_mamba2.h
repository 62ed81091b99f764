// What the configurations of Mamba 2 and of its hybrids with attention share.
//
// Source: transformers 5.23, models/mamba2/configuration_mamba2.py,
// models/{bamba,granitemoehybrid,falcon_h1}/configuration_*.py.
#ifndef FORETELL_MODELS_LAYERS_READ_MAMBA2_H_
#define FORETELL_MODELS_LAYERS_READ_MAMBA2_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "models/layers/mamba2_mixer.h"
#include "spec/config_view.h"

namespace foretell {

// `time_step_limit`: between what the time step is cut.
void ReadStepLimit(const ConfigView& config, Mamba2Config& mixer);

// What `expand` gives; a problem past the largest size.
int64_t ExpandedChannels(const ConfigView& config, std::string_view key,
                         int64_t expand, int64_t hidden);

// The keys mamba_* of Bamba, GraniteMoeHybrid and Falcon H1, whose defaults are
// equal. `stated_channels` is the width where a key of its own states it.
Mamba2Config ReadHybridMixer(
    const ConfigView& config, int64_t hidden, double norm_epsilon,
    std::optional<int64_t> stated_channels = std::nullopt);

// The class's own channels disagree with heads x head_dim: refused as it loads.
void CheckHeadsOfMixer(const ConfigView& config, std::string_view key,
                       const Mamba2Config& mixer);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_READ_MAMBA2_H_
