// What hybrids of attention and recurrent layers read alike.
//
// Source: transformers 5.23, models/{bamba,granitemoehybrid,falcon_h1,jamba}/
// configuration_*.py and the constructors of their attention.
#ifndef FORETELL_MODELS_LAYERS_READ_HYBRID_H_
#define FORETELL_MODELS_LAYERS_READ_HYBRID_H_

#include <cstdint>
#include <optional>

#include "models/layers/attention.h"
#include "models/layers/decoder.h"
#include "models/layers/experts.h"
#include "models/layers/hybrid_decoder.h"
#include "spec/config_view.h"

namespace foretell {

struct HybridHeadDefaults {
  // Of an absent num_key_value_heads; nothing: as many as there are heads.
  std::optional<int64_t> kv_heads = {};
};

// Heads, and a head_dim that the class does not declare but takes where a file
// states it.
AttentionConfig ReadHybridHeads(const ConfigView& config,
                                const HybridHeadDefaults& defaults);

// What both kinds of decoders have.
HybridConfig HybridOf(const DecoderConfig& decoder);

// The loss plus how unevenly the routers chose.
HybridFinish BalancedHybridLoss(const ExpertsConfig& experts);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_READ_HYBRID_H_
