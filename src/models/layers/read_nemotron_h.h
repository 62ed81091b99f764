// Nemotron H's configuration: the kinds of its blocks, and what each is made
// of.
//
// Source: transformers 5.23, models/nemotron_h/configuration_nemotron_h.py and
// the constructors of modeling_nemotron_h.py.
#ifndef FORETELL_MODELS_LAYERS_READ_NEMOTRON_H_H_
#define FORETELL_MODELS_LAYERS_READ_NEMOTRON_H_H_

#include <cstdint>
#include <vector>

#include "models/layers/experts.h"
#include "models/layers/group_router.h"
#include "models/layers/hybrid_attention.h"
#include "models/layers/mamba2_mixer.h"
#include "spec/config_view.h"

namespace foretell {

enum class NemotronHLayer : uint8_t { kRecurrent, kAttention, kMoe, kMlp };

struct NemotronHConfig {
  std::vector<NemotronHLayer> layers;
  int64_t vocabulary = 0;
  int64_t hidden = 0;
  double norm_epsilon = 0;
  HybridAttentionConfig attention;
  Mamba2Config mixer;
  int64_t intermediate = 0;
  bool mlp_bias = false;
  // `hidden` is that of the latent, where there is one.
  ExpertsConfig experts;
  ExpertsConfig scored;  // the same as the router sees it
  GroupRouting routing;
  int64_t shared_intermediate = 0;
  bool has_latent = false;
};

NemotronHConfig ReadNemotronH(const ConfigView& config);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_READ_NEMOTRON_H_H_
