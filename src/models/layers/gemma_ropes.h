// The ropes of Gemma 3 and 3n: one for layers with a window, one for the
// others, as the file states each or in the old keys, which mean both.
//
// In: the text configuration and the kinds of its layers. Out: what the full
// layers' is, and one for each kind in use, the full one first. Errors:
// problems and findings in its log.
// Source: transformers 5.23, models/gemma3/configuration_gemma3.py
// (convert_rope_params_to_dict), models/gemma3n/configuration_gemma3n.py.
#ifndef FORETELL_MODELS_LAYERS_GEMMA_ROPES_H_
#define FORETELL_MODELS_LAYERS_GEMMA_ROPES_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "models/layers/rope.h"
#include "spec/config_view.h"

namespace foretell {

struct GemmaRopes {
  RopeConfig full;
  std::vector<KindRope> used;
};

GemmaRopes ReadGemmaRopes(const ConfigView& config,
                          std::span<const std::string> types, int64_t head_dim,
                          int64_t positions);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_GEMMA_ROPES_H_
