// Heads that share a width evenly, as the older decoders demand it.
//
// Source: transformers 5.23, models/{opt,gptj,gpt_neo,bloom,…}/modeling_*.py
// (the constructors of their attention).
#ifndef FORETELL_MODELS_LAYERS_WHOLE_HEADS_H_
#define FORETELL_MODELS_LAYERS_WHOLE_HEADS_H_

#include <cstdint>
#include <string_view>

#include "spec/config_view.h"

namespace foretell {

struct WholeHeads {
  int64_t hidden = 1;
  int64_t heads = 1;
  int64_t head_dim = 1;
};

// A finding where `heads`, the value of `key`, does not divide `hidden` and the
// model has a layer to be built.
WholeHeads CheckWholeHeads(const ConfigView& config, int64_t hidden,
                           int64_t heads, int64_t layers, std::string_view key);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_WHOLE_HEADS_H_
