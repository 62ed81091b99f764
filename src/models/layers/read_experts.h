// What families with experts read alike: whether a router can choose as many
// as it is asked for, and what a language model adds to its loss.
//
// Source: transformers 5.23, models/mixtral/modeling_mixtral.py
// (MixtralForCausalLM), which Qwen3-MoE and GPT-OSS share.
#ifndef FORETELL_MODELS_LAYERS_READ_EXPERTS_H_
#define FORETELL_MODELS_LAYERS_READ_EXPERTS_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "models/layers/decoder.h"
#include "models/layers/experts.h"
#include "spec/config_view.h"

namespace foretell {

// A finding where a token is to meet more experts than there are.
void CheckExpertsPerToken(const ConfigView& config,
                          const ExpertsConfig& experts);

// output_router_logits and router_aux_loss_coef, a factor of the loss: whether
// scores are kept.
bool ReadKeepsLogits(const ConfigView& config);

// Which layers have experts: Qwen's keys.
struct SparseLayers {
  std::vector<int64_t> dense;  // mlp_only_layers
  int64_t step = 1;            // decoder_sparse_step
  bool any = true;             // there are experts at all

  bool Contains(int64_t layer) const {
    return std::ranges::find(dense, layer) == dense.end() && any &&
           (layer + 1) % step == 0;
  }
};
SparseLayers ReadSparseLayers(const ConfigView& config, int64_t layers,
                              const ExpertsConfig& experts);

// The loss plus how unevenly the routers chose, where their scores are kept.
DecoderFinish BalancedLoss(const ExpertsConfig& experts);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_READ_EXPERTS_H_
