// Blocks, the lines that vLLM prints about its cache, and its refusals.
//
// In: groups of layers, the free memory of each stage of the pipeline, and
// what a request may hold. Out: a plan as `EngineCore` makes it, or the
// refusal with what is needed and the longest length that would fit.
// Source: get_kv_cache_configs of vllm/v1/core/kv_cache_planning.py (0.33.0)
// and kv_cache_utils.py (0.19.0).
#ifndef FORETELL_ENGINES_VLLM_KV_PLAN_H_
#define FORETELL_ENGINES_VLLM_KV_PLAN_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engines/vllm/kv_groups.h"
#include "engines/vllm/kv_rules.h"

namespace foretell::vllm {

struct KvPlanInput {
  KvGrouping grouping;
  KvRequestSize request;
  bool is_block_outermost = false;
  bool is_length_fitted = false;           // --max-model-len auto
  std::optional<int64_t> blocks_override;  // --num-gpu-blocks-override
  // Bytes for the cache, one for each stage of the pipeline.
  std::vector<int64_t> available;
};

enum class KvVerdict : uint8_t {
  kAccepted,
  kNoMemory,     // nothing is left for the cache
  kTooLong,      // not one request of the served length fits
  kCannotFit,    // the fitted length would be 0
  kCannotGroup,  // layers that cannot share one pool
};

struct KvPlan {
  KvVerdict verdict = KvVerdict::kAccepted;
  std::string reason;  // of kCannotGroup
  // Of a refusal.
  int64_t needed_bytes = 0;
  int64_t usable_bytes = 0;      // what the check compared with
  int64_t estimated_length = 0;  // 0 where not even one token fits
  // Of an accepted plan.
  std::vector<KvGroup> groups;  // of the first stage
  int64_t blocks = 0;
  int64_t block_bytes = 0;     // of the first stage
  int64_t request_blocks = 0;  // of one request of the served length
  int64_t printed_tokens = 0;  // "GPU KV cache size: … tokens"
  double concurrency = 0;      // "Maximum concurrency …: 2.39x"
  int64_t length = 0;          // max_model_len, fitted where asked
  int64_t least_block = 0;     // tokens of the smallest block
};

KvPlan PlanKvCache(const KvPlanInput& in, const KvRules& rules);

// Requests of `tokens` each that the pool holds at once, and the bytes that
// one of them takes of the first stage.
double RequestsOfLength(const KvPlan& plan, const KvRequestSize& request,
                        int64_t tokens);

}  // namespace foretell::vllm

#endif  // FORETELL_ENGINES_VLLM_KV_PLAN_H_
