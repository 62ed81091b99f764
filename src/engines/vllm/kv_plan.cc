#include "engines/vllm/kv_plan.h"

#include <algorithm>

namespace foretell::vllm {
namespace {

int64_t StagesOf(const std::vector<KvGroup>& groups) {
  int64_t stages = 1;
  for (const KvGroup& group : groups) {
    for (const KvLayer& layer : group.layers) {
      stages = std::max(stages, layer.stage + 1);
    }
  }
  return stages;
}

bool HasLayers(const std::vector<KvGroup>& groups) {
  return std::ranges::any_of(
      groups, [](const KvGroup& group) { return !group.layers.empty(); });
}

int64_t NeededBytes(const std::vector<KvGroup>& groups,
                    const KvRequestSize& request, bool is_block_outermost,
                    const KvRules& rules) {
  if (!rules.does_check_by_blocks && groups.size() == 1 &&
      groups.front().is_mixed) {
    int64_t sum = 0;
    for (const KvLayer& layer : groups.front().layers) {
      sum = Plus(sum, RequestBytes(layer.spec, request));
    }
    return sum;
  }
  return Times(BlockBytes(groups, is_block_outermost),
               RequestBlocks(groups, request, false));
}

// The longest length whose request fits, by vLLM's binary search; 0 where not
// even one token does.
int64_t LongestLength(const std::vector<KvGroup>& groups, const KvPlanInput& in,
                      int64_t most, int64_t available, const KvRules& rules) {
  KvRequestSize request = in.request;
  const auto fits = [&](int64_t length) {
    request.length = length;
    return NeededBytes(groups, request, in.is_block_outermost, rules) <=
           available;
  };
  if (!fits(1)) return 0;
  int64_t left = 1;
  int64_t right = most;
  int64_t result = 1;
  while (left <= right) {
    const int64_t middle = left + (right - left) / 2;
    if (fits(middle)) {
      result = middle;
      left = middle + 1;
    } else {
      right = middle - 1;
    }
  }
  return result;
}

int64_t PrintedTokens(const KvPlan& plan, const KvPlanInput& in,
                      const KvRules& rules) {
  if (rules.does_print_by_request) {
    return static_cast<int64_t>(plan.concurrency *
                                static_cast<double>(plan.length));
  }
  const auto count = static_cast<int64_t>(plan.groups.size());
  return Times(Times(plan.blocks / count, plan.least_block),
               in.request.context_ranks);
}

}  // namespace

KvPlan PlanKvCache(const KvPlanInput& in, const KvRules& rules) {
  KvPlan plan;
  if (in.grouping.fault) {
    plan.verdict = KvVerdict::kCannotGroup;
    plan.reason = *in.grouping.fault;
    return plan;
  }
  plan.length = in.request.length;
  if (in.grouping.groups.empty()) {
    // Nothing is kept: one block, which the pool's null block is.
    plan.blocks = 1;
    return plan;
  }
  const int64_t stages = StagesOf(in.grouping.groups);
  std::vector<std::vector<KvGroup>> parts;
  std::vector<int64_t> available;
  for (int64_t i = 0; i < stages; ++i) {
    parts.push_back(GroupsOfStage(in.grouping.groups, i));
    const auto at = static_cast<size_t>(
        std::min<int64_t>(i, static_cast<int64_t>(in.available.size()) - 1));
    const int64_t block = BlockBytes(parts.back(), in.is_block_outermost);
    available.push_back(in.blocks_override && rules.does_reserve_null_block
                            ? Times(*in.blocks_override, block)
                            : in.available[at]);
  }
  const auto usable = [&](size_t i) {
    return rules.does_reserve_null_block
               ? available[i] - BlockBytes(parts[i], in.is_block_outermost)
               : available[i];
  };
  KvRequestSize request = in.request;
  if (in.is_length_fitted) {
    int64_t length = request.length;
    for (size_t i = 0; i < parts.size(); ++i) {
      if (!HasLayers(parts[i])) continue;
      length = std::min(length, LongestLength(parts[i], in, request.length,
                                              usable(i), rules));
    }
    if (length <= 0) {
      plan.verdict = KvVerdict::kCannotFit;
      return plan;
    }
    request.length = length;
    plan.length = length;
  }
  for (size_t i = 0; i < parts.size(); ++i) {
    if (!HasLayers(parts[i])) continue;
    plan.usable_bytes = usable(i);
    if (plan.usable_bytes <= 0) {
      plan.verdict = KvVerdict::kNoMemory;
      return plan;
    }
    plan.needed_bytes =
        NeededBytes(parts[i], request, in.is_block_outermost, rules);
    if (plan.needed_bytes > plan.usable_bytes) {
      plan.verdict = KvVerdict::kTooLong;
      plan.estimated_length =
          LongestLength(parts[i], in, request.length, plan.usable_bytes, rules);
      return plan;
    }
  }
  plan.blocks = INT64_MAX;
  for (size_t i = 0; i < parts.size(); ++i) {
    const int64_t block = BlockBytes(parts[i], in.is_block_outermost);
    if (block > 0) plan.blocks = std::min(plan.blocks, available[i] / block);
  }
  if (in.blocks_override) plan.blocks = *in.blocks_override;
  plan.groups = parts.front();
  plan.block_bytes = BlockBytes(plan.groups, in.is_block_outermost);
  plan.least_block = INT64_MAX;
  for (const KvGroup& group : plan.groups) {
    plan.least_block = std::min(plan.least_block, group.spec.block_size);
  }
  plan.request_blocks = RequestBlocks(plan.groups, request, true);
  plan.concurrency =
      static_cast<double>(plan.blocks) /
      static_cast<double>(std::max<int64_t>(plan.request_blocks, 1));
  plan.printed_tokens = PrintedTokens(plan, in, rules);
  return plan;
}

double RequestsOfLength(const KvPlan& plan, const KvRequestSize& request,
                        int64_t tokens) {
  KvRequestSize at = request;
  at.length = std::max<int64_t>(tokens, 1);
  const int64_t blocks = RequestBlocks(plan.groups, at, true);
  return blocks > 0
             ? static_cast<double>(plan.blocks) / static_cast<double>(blocks)
             : 0;
}

}  // namespace foretell::vllm
