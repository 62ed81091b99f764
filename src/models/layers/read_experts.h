// What families with experts read alike: whether a router can choose as many
// as it is asked for, and what a language model adds to its loss.
//
// Source: transformers 5.23, models/mixtral/modeling_mixtral.py
// (MixtralForCausalLM), which Qwen3-MoE and GPT-OSS share.
#ifndef FORETELL_MODELS_LAYERS_READ_EXPERTS_H_
#define FORETELL_MODELS_LAYERS_READ_EXPERTS_H_

#include "models/layers/decoder.h"
#include "models/layers/experts.h"
#include "spec/config_view.h"

namespace foretell {

// A finding where a token is to meet more experts than there are.
void CheckExpertsPerToken(const ConfigView& config,
                          const ExpertsConfig& experts);

// The loss plus how unevenly the routers chose, where their scores are kept.
DecoderFinish BalancedLoss(const ExpertsConfig& experts);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_READ_EXPERTS_H_
