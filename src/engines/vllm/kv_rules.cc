#include "engines/vllm/kv_rules.h"

namespace foretell::vllm {

// Read in vllm/v1/core/kv_cache_{utils,planning}.py, vllm/v1/
// kv_cache_interface.py and vllm/model_executor/models/config.py of each
// release from 0.9 to 0.33.
KvRules RulesOf(Release release) {
  KvRules out;
  const auto from = [&](int32_t minor, int32_t patch = 0) {
    return release >= Release{minor, patch};
  };
  out.does_print_by_request = from(20, 2);
  out.does_check_by_blocks = from(20, 2);
  out.does_count_in_flight = from(26);
  out.does_reserve_null_block = from(29);
  out.has_prefill_checkpoints = from(29);
  out.does_align_to_checkpoints = from(33);
  out.has_own_window_blocks = from(25);
  // Before, prefix caching of states had to be asked for.
  out.are_states_cached_by_default = from(16);
  out.grouping.does_pad_attention = from(26);
  out.grouping.does_merge_windows = from(26);
  out.grouping.does_pack_mixed = from(26);
  out.grouping.padding_ratio = from(18) ? 1.5 : from(12) ? 1.25 : 1.0;
  return out;
}

}  // namespace foretell::vllm
