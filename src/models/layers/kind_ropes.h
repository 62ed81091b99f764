// Ropes that differ by kind of layer, as a configuration nests them:
// rope_parameters: {"full_attention": {…}, "sliding_attention": {…}}.
//
// Source: transformers 5.23, modeling_rope_utils.py (nested rope_parameters),
// models/{laguna,mimo_v2_flash,olmo3,gemma3}/modeling_*.py (rotary_emb).
#ifndef FORETELL_MODELS_LAYERS_KIND_ROPES_H_
#define FORETELL_MODELS_LAYERS_KIND_ROPES_H_

#include <string>
#include <string_view>
#include <vector>

#include "models/layers/rope.h"
#include "models/layers/windowed_layers.h"
#include "spec/config_view.h"

namespace foretell {

// What a class takes for one kind of layer where a file states no ropes.
struct KindDefault {
  std::string_view kind;
  double theta = 10000;
  double part = 1;  // of a head that is turned
};

struct KindRopeReading {
  int64_t positions = 0;
  int64_t head_dim = 0;
  bool turns_part = true;   // by the default type too
  double default_part = 1;  // of a rope that is stated without
  std::vector<KindDefault> defaults;
};

// One rope for each kind that `layers` has, by name; a finding where the file
// states ropes but not one for each.
std::vector<KindRope> ReadKindRopes(const ConfigView& config,
                                    const WindowedLayers& layers,
                                    const KindRopeReading& reading);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_KIND_ROPES_H_
