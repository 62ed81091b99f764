// Whisper's layers and its encoder by their parameters: two convolutions over
// a spectrogram, sinusoids, and layers of attention and a feed-forward behind
// LayerNorms. Qwen2-Audio, Voxtral and the Omni models took it over.
//
// Source: transformers 5.23, models/whisper/modeling_whisper.py,
// models/qwen2_audio/modeling_qwen2_audio.py and
// models/voxtral/modeling_voxtral.py.
#ifndef FORETELL_MODELS_LAYERS_SPEECH_LAYERS_H_
#define FORETELL_MODELS_LAYERS_SPEECH_LAYERS_H_

#include <cstdint>

#include "models/layers/module.h"
#include "models/layers/tower_module.h"
#include "spec/config_view.h"

namespace foretell {

struct SpeechLayer {
  int64_t hidden = 0;
  int64_t intermediate = 0;
  bool key_bias = false;
  bool crosses = false;  // attends to an encoder's output, too
};

void AddSpeechLayer(const TowerModule& at, const SpeechLayer& layer);

struct SpeechEncoder {
  int64_t hidden = 384;
  int64_t intermediate = 1536;
  int64_t layers = 4;
  int64_t bins = 80;  // of the spectrogram
};

// The class defaults `otherwise`, read from the encoder's own keys; `by_new`
// where the class calls them hidden_size and so on, and the old names are
// aliases.
SpeechEncoder ReadSpeechEncoder(const ConfigView& config,
                                const SpeechEncoder& otherwise,
                                bool by_new = false);

// Adds the encoder with the positions that the configuration states.
void AddSpeechEncoder(const ConfigView& config, const Module& at,
                      const SpeechEncoder& sizes);

// Keys that no parameter's shape depends on.
void IgnoreSpeechKeys(const ConfigView& config);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_SPEECH_LAYERS_H_
