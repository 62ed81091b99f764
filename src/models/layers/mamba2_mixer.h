// Mamba 2's mixer: one projection, a short convolution and a scan over chunks,
// behind a gated norm.
//
// Source: transformers 5.23, models/mamba2/modeling_mamba2.py (Mamba2Mixer,
// MambaRMSNormGated), which the hybrids of attention and Mamba 2 share, as it
// runs without the packages mamba-ssm and causal-conv1d.
#ifndef FORETELL_MODELS_LAYERS_MAMBA2_MIXER_H_
#define FORETELL_MODELS_LAYERS_MAMBA2_MIXER_H_

#include <cstdint>
#include <limits>
#include <optional>

#include "models/layers/activation.h"
#include "models/layers/linear.h"
#include "models/layers/module.h"
#include "models/layers/short_convolution.h"
#include "spec/layer_state.h"

namespace foretell {

// What follows the scan.
enum class MixerNorm : uint8_t {
  kGated,       // GatedRmsNorm
  kNone,        // times silu(gate)
  kBeforeGate,  // Falcon H1's norm, then times silu(gate)
  kAfterGate,   // the other way round
};

struct Mamba2Config {
  int64_t hidden = 0;
  int64_t channels = 0;  // intermediate_size
  int64_t heads = 0;
  int64_t head_dim = 0;
  int64_t groups = 1;
  int64_t state = 0;   // per channel
  int64_t kernel = 0;  // tokens that the convolution sees
  int64_t chunk = 0;   // tokens of a chunk
  bool in_bias = false;
  bool out_bias = false;
  bool conv_bias = true;
  Activation activation = Activation::kSilu;
  MixerNorm norm = MixerNorm::kGated;
  double norm_epsilon = 0;
  // Falcon H1: what the input is multiplied by, and whether the projection is
  // multiplied by a buffer mup_vector.
  std::optional<double> input_multiplier;
  bool scales_projection = false;
  double least_step = 0;  // what the time step is cut to
  double most_step = std::numeric_limits<double>::infinity();

  int64_t ConvChannels() const { return channels + 2 * groups * state; }
};

// The state that a layer of this mixer keeps.
LayerState StateOf(const Mamba2Config& config);
// The extents of its recurrent state behind the batch.
Shape RecurrentExtents(const Mamba2Config& config);

// weight [width]; x times silu(gate), over its root mean square within groups.
struct GatedRmsNorm {
  GatedRmsNorm(const Module& at, int64_t width, const Mamba2Config& config);
  Tensor Forward(const Tensor& x, const Tensor& gate) const;

  Module module;
  ParameterId weight;
  MixerNorm kind;
  int64_t groups;
  double epsilon;

 private:
  Tensor ForwardAroundGate(const Tensor& x, const Tensor& gate) const;
};

struct Mamba2Mixer {
  Mamba2Mixer(const Module& at, const Mamba2Config& settings);
  // [b, s, hidden] -> the same. A cache is filled where it is empty, and taken
  // one token further where it is not.
  Tensor Forward(const Tensor& hidden, RecurrentCache* cache) const;

  Module module;
  Mamba2Config config;
  ParameterId dt_bias;  // [heads]
  ParameterId a_log;    // "A_log" [heads]
  ParameterId skip;     // "D" [heads]
  ActivationModule act;
  DepthwiseConv1d conv1d;
  Linear in_proj;
  std::optional<GatedRmsNorm> norm;
  Linear out_proj;
  std::optional<ValueId> mup_vector;  // [1, 1, width of the projection]

 private:
  Tensor ScanAll(const Tensor& hidden, const Tensor& step, const Tensor& a,
                 const Tensor& b, const Tensor& c, RecurrentCache* cache) const;
  Tensor ScanOne(Tensor hidden, Tensor step, Tensor a, Tensor b, Tensor c,
                 const Tensor& gate, const RecurrentCache& cache) const;
};

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_MAMBA2_MIXER_H_
