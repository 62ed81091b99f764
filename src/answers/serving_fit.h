// Whether a launch's KV cache fits: memory that is left, layers that keep
// something, and the engine's plan for the least, the likely and the most that
// may be left.
//
// In: a configuration, the settings that a launch ends with, the card. Out:
// the account of memory, the account of the cache, three plans, and what the
// rule says. Nothing is planned where a term is unknown; `fit.missing` names
// it.
#ifndef FORETELL_ANSWERS_SERVING_FIT_H_
#define FORETELL_ANSWERS_SERVING_FIT_H_

#include <vector>

#include "engines/vllm/kv_account.h"
#include "engines/vllm/memory_account.h"
#include "rules/serve_rules.h"
#include "spec/model_config.h"
#include "spec/serving.h"

namespace foretell {

struct ServingFit {
  Bytes total;  // the card, as its runtime sees it
  vllm::MemoryAccount memory;
  vllm::KvAccount cache;
  std::vector<vllm::KvPlan> plans;  // least, likely, most; or none
  ServeCacheFit fit;
};

// `is_length_fitted`: the launch says --max-model-len auto.
ServingFit FitServing(const ModelConfig& config,
                      const ServingSettings& settings, const ServingCard& card,
                      bool is_length_fitted);

// Whether the launch lets the engine choose its length by the memory.
bool IsLengthFitted(const Launch& launch);

}  // namespace foretell

#endif  // FORETELL_ANSWERS_SERVING_FIT_H_
