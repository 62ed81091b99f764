// Gemma 4's text configuration, of the class with towers and of the unified
// one, which has neither embeddings for each layer nor experts.
//
// In: the text configuration, and the keys that all decoders share. Out: what
// its modules are made of. Errors: problems and findings in its log.
// Source: transformers 5.23, models/gemma4/configuration_gemma4.py and
// models/gemma4_unified/configuration_gemma4_unified.py.
#ifndef FORETELL_MODELS_LAYERS_READ_GEMMA4_H_
#define FORETELL_MODELS_LAYERS_READ_GEMMA4_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "models/layers/attention.h"
#include "models/layers/gemma4_modules.h"
#include "models/layers/read_decoder.h"
#include "spec/config_view.h"

namespace foretell {

Gemma4Config ReadGemma4(const ConfigView& config, const DecoderKeys& keys,
                        AttentionConfig attention, bool is_unified);

// From which layer on they read the keys and values of earlier ones of their
// kind: num_kv_shared_layers before the end, or `otherwise`.
int64_t ReadFirstShared(const ConfigView& config,
                        const std::vector<std::string>& kinds,
                        int64_t otherwise);
// The last layer of each kind before that, whose keys and values they read.
std::vector<size_t> StoringLayers(const std::vector<std::string>& kinds,
                                  int64_t first_shared);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_READ_GEMMA4_H_
