// Which layers attend to a window only, as Qwen and Gemma 2 say it.
//
// `layer_types` lists them. Without it, Qwen's `use_sliding_window` switches
// windows for layers from `max_window_layers` on, and Gemma 2's have one in
// turn. `sliding_window` is its length.
// Source: transformers 5.23, models/qwen2/configuration_qwen2.py, which Qwen3
// shares, models/gemma2/configuration_gemma2.py.
#ifndef FORETELL_MODELS_LAYERS_WINDOWED_LAYERS_H_
#define FORETELL_MODELS_LAYERS_WINDOWED_LAYERS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "spec/config_view.h"

namespace foretell {

struct WindowedLayers {
  std::vector<std::string> types;  // one per layer, also where none is listed
  int64_t window = 0;              // of the sliding ones; 0 where there is none
  bool any_slides = false;         // a layer is a sliding one

  int64_t WindowOf(int64_t layer) const;
  bool Slides(int64_t layer) const;
  bool Mixes() const;  // some slide and some do not
};

// The list as the class holds it once it has loaded.
void DeriveLayerTypes(const ConfigView& config,
                      const std::vector<std::string>& types);

// dots.llm1's: layers from max_window_layers on, where sliding_window is no
// null. `any_slides` without a window is a finding.
struct LateWindowDefaults {
  int64_t window = 4096;
  int64_t first = 28;
};
WindowedLayers ReadLateWindows(const ConfigView& config, int64_t layers,
                               const LateWindowDefaults& defaults);

// Laguna's and MiMo's: layers as listed, and without a list those of `slides`;
// sliding_window is no null.
WindowedLayers ReadListedWindows(
    const ConfigView& config, int64_t layers, int64_t window,
    const std::function<bool(int64_t layer)>& slides = nullptr);

WindowedLayers ReadWindowedLayers(const ConfigView& config, int64_t layers);
// Gemma 2's: all layers slide but every `period`-th. Both masks are built for
// each forward; what that fails on is a finding.
WindowedLayers ReadPeriodicLayers(const ConfigView& config, int64_t layers,
                                  int64_t period);
// The same, where a file may state the period as sliding_window_pattern.
WindowedLayers ReadPatternedLayers(const ConfigView& config, int64_t layers,
                                   int64_t period);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_WINDOWED_LAYERS_H_
