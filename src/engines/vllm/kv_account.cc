#include "engines/vllm/kv_account.h"

#include <algorithm>

namespace foretell::vllm {
namespace {

// Batches that are scheduled and not yet settled.
int64_t BatchesInFlight(const ServingSettings& settings) {
  const int64_t stages = std::max<int64_t>(settings.pipeline_parallel, 1);
  return settings.async_scheduling ? stages + 1 : stages;
}

// Drafters of several modules read the last tokens of a prefill again.
int64_t RetainedTokens(const ServingSettings& settings) {
  if (!settings.speculative || settings.speculative->method != "mtp") return 0;
  return 0;
}

}  // namespace

KvAccount AccountKvCache(const ModelConfig& config,
                         const ServingSettings& settings,
                         const ServingCard& card) {
  KvAccount out;
  out.rules = RulesOf({settings.version.minor, settings.version.patch});
  out.layers = ReadKvLayers(config, settings, card, out.rules);
  out.fault = out.layers.fault;
  if (!out.fault.empty()) return out;
  KvGroupingRules rules = out.rules.grouping;
  rules.is_hybrid_disabled = settings.disable_hybrid_kv_cache_manager;
  rules.is_block_outermost = out.layers.is_block_outermost;
  std::vector<KvLayer> layers = out.layers.layers;
  for (KvLayer& layer : layers) {
    if (layer.spec.kind == KvKind::kSliding ||
        layer.spec.kind == KvKind::kSlidingLatent) {
      layer.spec.retained = RetainedTokens(settings);
    }
  }
  out.input.grouping = GroupLayers(std::move(layers), rules);
  out.input.is_block_outermost = out.layers.is_block_outermost;
  out.input.blocks_override = settings.num_gpu_blocks_override;
  KvRequestSize& request = out.input.request;
  request.length = std::max<int64_t>(settings.max_model_len, 1);
  request.in_flight_tokens =
      Times(settings.max_num_batched_tokens,
            out.rules.does_count_in_flight ? BatchesInFlight(settings) : 1);
  request.encoder_tokens = out.layers.encoder_tokens;
  request.context_ranks =
      std::max<int64_t>(settings.decode_context_parallel, 1);
  request.are_states_aligned = out.layers.are_states_aligned;
  request.are_states_kept = out.layers.are_states_kept;
  return out;
}

KvPlan PlanKvCache(const KvAccount& account, int64_t available,
                   bool is_length_fitted) {
  KvPlanInput input = account.input;
  input.available = {available};
  input.is_length_fitted = is_length_fitted;
  return PlanKvCache(input, account.rules);
}

}  // namespace foretell::vllm
