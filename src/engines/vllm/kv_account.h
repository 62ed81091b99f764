// The whole of a launch's cache: layers, groups and what a request holds,
// ready for any amount of free memory.
//
// In: a configuration, the settings that a launch ends with, the card. Out: an
// account that PlanKvCache takes with the free bytes of each stage.
// Errors: `fault` says what the configuration lacks.
// Source: vllm/v1/engine/core.py, _initialize_kv_caches, of 0.33.0.
#ifndef FORETELL_ENGINES_VLLM_KV_ACCOUNT_H_
#define FORETELL_ENGINES_VLLM_KV_ACCOUNT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "engines/vllm/kv_layers.h"
#include "engines/vllm/kv_plan.h"
#include "spec/model_config.h"
#include "spec/serving.h"

namespace foretell::vllm {

struct KvAccount {
  KvRules rules;
  KvLayers layers;
  KvPlanInput input;  // without `available`
  std::string fault;
};

KvAccount AccountKvCache(const ModelConfig& config,
                         const ServingSettings& settings,
                         const ServingCard& card);

// The plan for as many free bytes on every stage; `is_length_fitted` where
// the launch says --max-model-len auto.
KvPlan PlanKvCache(const KvAccount& account, int64_t available,
                   bool is_length_fitted);

}  // namespace foretell::vllm

#endif  // FORETELL_ENGINES_VLLM_KV_ACCOUNT_H_
