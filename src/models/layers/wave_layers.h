// The layers of wav2vec 2.0, HuBERT and WavLM by their parameters:
// convolutions over a wave, learned places from a wide convolution, and an
// encoder.
//
// Source: transformers 5.23, models/{wav2vec2,hubert,wavlm}/modeling_*.py.
#ifndef FORETELL_MODELS_LAYERS_WAVE_LAYERS_H_
#define FORETELL_MODELS_LAYERS_WAVE_LAYERS_H_

#include <cstdint>
#include <vector>

#include "models/layers/tower_module.h"
#include "spec/config_view.h"

namespace foretell {

enum class WaveKind : uint8_t { kWav2Vec2, kHubert, kWavLm };

struct WaveSizes {
  int64_t hidden = 0;
  int64_t intermediate = 0;
  int64_t layers = 0;
  int64_t heads = 0;
  std::vector<int64_t> channels;
  std::vector<int64_t> kernels;
  bool conv_bias = false;
  bool norms_all = false;  // each convolution, not the first alone
  bool has_mask = false;   // a learned row for what is masked
  int64_t places_kernel = 0;
  int64_t places_groups = 0;
  int64_t adapter_width = 0;  // in each layer; 0: none
};

WaveSizes ReadWaveSizes(const ConfigView& config, WaveKind kind);

// Keys that no parameter's shape depends on.
void IgnoreWaveKeys(const ConfigView& config);

void AddWaveExtractor(const TowerModule& at, const WaveSizes& sizes);
void AddWaveEncoder(const ConfigView& config, const TowerModule& at,
                    const WaveSizes& sizes, WaveKind kind);

// Convolutions behind the encoder; the width that they give.
int64_t AddWaveAdapter(const ConfigView& config, const TowerModule& at,
                       int64_t hidden, WaveKind kind);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_WAVE_LAYERS_H_
