// What vLLM's own configuration code makes of a launch: accepted with these
// values, or refused, and why.
//
// In: the launch as its version reads it, the version's facts, the model's
// configuration, the card and how many. Out: the settings that the engine ends
// with, the same by the engine's own sections and names, and what it refuses,
// in the engine's order: the first refusal is the one that a start prints.
// Follows vllm/engine/arg_utils.py (create_engine_config) and vllm/config/ of
// 0.33.0 and 0.19.0; a version between takes the rules of the nearer one's
// side, as its facts say. Before 0.11 the first engine's defaults
// (launch_v0.cc), and what those versions refused otherwise, as their sources
// from 0.1.2 on have it.
//
// Does not model: kernels that fail on first use, weights that do not load,
// custom code of a model, plugins, platforms beside CUDA.
#ifndef FORETELL_ENGINES_VLLM_LAUNCH_H_
#define FORETELL_ENGINES_VLLM_LAUNCH_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "spec/config_value.h"
#include "spec/engine_facts.h"
#include "spec/model_config.h"
#include "spec/serving.h"

namespace foretell {

struct VllmRefusal {
  // flags, remote-code, gpu-count, parallel-divisibility, context-length,
  // batch-limits, quantization, kv-cache-dtype, memory-settings, dtype,
  // speculative, lora, attention-backend, hardware, parallel-unsupported,
  // architecture, files, other.
  std::string kind;
  std::string what;  // with its numbers
  std::string why;   // what the engine does
  std::string fix;   // can be pasted; empty where there is none
  std::string flag;  // the setting that decides, underscored; may be empty
};

struct VllmRequest {
  const Launch* launch = nullptr;
  const EngineFacts* facts = nullptr;
  const ModelConfig* model = nullptr;  // null: nothing is known of it
  const ServingCard* card = nullptr;
  int64_t cards = 1;
  // Another model that the launch names (a draft); null where unknown.
  std::function<std::shared_ptr<const ModelConfig>(std::string_view)> find;
};

struct VllmLaunch {
  ServingSettings settings;
  ConfigValue resolved = ConfigValue::Object();  // by section
  std::vector<VllmRefusal> refusals;
  // What validation lets pass and the start refuses, before memory is looked
  // at: sizes that do not divide, a precision that the card lacks.
  std::vector<VllmRefusal> at_start;
  std::vector<VllmRefusal> warnings;  // taken, but not as written
  std::vector<std::string> cannot_tell;
  // The model's configuration with what the launch overrides.
  ModelConfig model;
};

VllmLaunch ResolveVllm(const VllmRequest& request);

}  // namespace foretell

#endif  // FORETELL_ENGINES_VLLM_LAUNCH_H_
