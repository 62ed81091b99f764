#include "models/layers/omni_audio.h"

#include "models/layers/speech_layers.h"
#include "models/layers/tower_module.h"

namespace foretell {
namespace {

constexpr SpeechEncoder kLarge = {
    .hidden = 1280, .intermediate = 5120, .layers = 32, .bins = 128};
constexpr int64_t kKernel = 3;

void AddPlaces(const ConfigView& config, const TowerModule& tower,
               int64_t hidden) {
  tower.Child("positional_embedding")
      .module()
      .Buffer("positional_embedding",
              {config.Size({"max_source_positions"}, 1500), hidden},
              DType::kFloat32, false);
  config.Ignore({"n_window", "n_window_infer", "conv_chunksize"});
}

void AddLayers(const TowerModule& tower, const SpeechEncoder& sizes,
               bool key_bias) {
  const TowerModule layers = tower.Child("layers");
  for (int64_t index = 0; index < sizes.layers; ++index) {
    AddSpeechLayer(layers.Child(index), {.hidden = sizes.hidden,
                                         .intermediate = sizes.intermediate,
                                         .key_bias = key_bias});
  }
}

// A side after one convolution of stride two.
int64_t Halved(int64_t side) { return (side + 1) / 2; }

}  // namespace

void AddQwen25OmniAudio(const ConfigView& config, const Module& at) {
  const SpeechEncoder sizes = ReadSpeechEncoder(config, kLarge);
  const int64_t out = config.Size({"output_dim"}, 3584);
  const TowerModule tower(at);
  AddPlaces(config, tower, sizes.hidden);
  tower.Convolution("conv1", {sizes.hidden, sizes.bins, kKernel}, true);
  tower.Convolution("conv2", {sizes.hidden, sizes.hidden, kKernel}, true);
  constexpr int64_t kEnds = 2;  // marks of a sound's beginning and end
  tower.Embedding("audio_bos_eos_token", kEnds, out);
  AddLayers(tower, sizes, false);
  tower.LayerNorm("ln_post", sizes.hidden);
  tower.Linear("proj", sizes.hidden, out, true);
}

void AddQwen3OmniAudio(const ConfigView& config, const Module& at) {
  const SpeechEncoder sizes = ReadSpeechEncoder(config, kLarge);
  const int64_t out = config.Size({"output_dim"}, 3584);
  const int64_t channels = config.Size({"downsample_hidden_size"}, 480);
  const TowerModule tower(at);
  AddPlaces(config, tower, sizes.hidden);
  AddLayers(tower, sizes, true);
  tower.LayerNorm("ln_post", sizes.hidden);
  tower.Convolution("conv2d1", {channels, 1, kKernel, kKernel}, true);
  tower.Convolution("conv2d2", {channels, channels, kKernel, kKernel}, true);
  tower.Convolution("conv2d3", {channels, channels, kKernel, kKernel}, true);
  const int64_t rows = Halved(Halved(Halved(sizes.bins)));
  tower.Linear("conv_out",
               ProductOf(config, "downsample_hidden_size", channels, rows),
               sizes.hidden, false);
  tower.Linear("proj1", sizes.hidden, sizes.hidden, true);
  tower.Linear("proj2", sizes.hidden, out, true);
}

}  // namespace foretell
