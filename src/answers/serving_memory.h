// A launch's memory on one GPU: what its model's tensors and its configuration
// say, handed to the engine's account.
//
// In: a configuration, the settings that a launch ends with, the card's total.
// Out: every line of the account. Weights are unknown where the class has no
// family, and so is then what is left.
#ifndef FORETELL_ANSWERS_SERVING_MEMORY_H_
#define FORETELL_ANSWERS_SERVING_MEMORY_H_

#include "engines/vllm/memory_account.h"
#include "spec/model_config.h"
#include "spec/serving.h"

namespace foretell {

struct ServedBy {
  bool is_v1 = true;  // vLLM's engine generation
  bool is_nvidia = true;
  bool is_amd = false;
  int capability = 0;  // 90 for 9.0
  bool is_unified = false;
};

vllm::MemoryAccount ServingMemory(const ModelConfig& config,
                                  const ServingSettings& settings,
                                  const Bytes& total, ServedBy by = {});

}  // namespace foretell

#endif  // FORETELL_ANSWERS_SERVING_MEMORY_H_
