// Every layer with its pages: backends, block sizes and cache dtypes applied.
//
// In: a configuration, the settings of a launch, the card. Out: layers in
// vLLM's order with their stages of the pipeline, ready to be grouped.
// Source: vllm/platforms/interface.py (update_block_size_for_backend and the
// alignment of hybrid models) and the layers' get_kv_cache_spec of 0.33.0.
#ifndef FORETELL_ENGINES_VLLM_KV_LAYERS_H_
#define FORETELL_ENGINES_VLLM_KV_LAYERS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "engines/vllm/kv_groups.h"
#include "engines/vllm/kv_rules.h"
#include "spec/model_config.h"
#include "spec/serving.h"

namespace foretell::vllm {

struct KvLayers {
  std::vector<KvLayer> layers;
  std::vector<std::string> backends;  // without repeats
  int64_t block_size = 16;
  std::string cache_dtype;  // "auto" resolved by the checkpoint
  bool is_block_outermost = false;
  bool are_states_aligned = false;
  bool are_states_kept = false;  // mamba_cache_mode "all"
  int64_t encoder_tokens = 0;
  std::string fault;
};

KvLayers ReadKvLayers(const ModelConfig& config,
                      const ServingSettings& settings, const ServingCard& card,
                      const KvRules& rules);

// Layers of each stage where a launch does not say: as even as may be, the
// rest to the last stages but the very last.
std::vector<int64_t> StageLayers(int64_t layers, int64_t stages);

}  // namespace foretell::vllm

#endif  // FORETELL_ENGINES_VLLM_KV_LAYERS_H_
