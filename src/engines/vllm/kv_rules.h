// What changed in vLLM's planning of the cache, release by release.
//
// In: a version. Out: the rules that it follows. Every field names the change
// and the release that has it.
#ifndef FORETELL_ENGINES_VLLM_KV_RULES_H_
#define FORETELL_ENGINES_VLLM_KV_RULES_H_

#include <cstdint>

#include "engines/vllm/kv_groups.h"

namespace foretell::vllm {

// 0.33.0 is {33, 0}; nothing before 0.1 is known.
struct Release {
  int32_t minor = 33;
  int32_t patch = 0;
  friend auto operator<=>(const Release&, const Release&) = default;
};

struct KvRules {
  // Printed tokens are the concurrency times the served length; before, the
  // blocks of one group times the smallest block.
  bool does_print_by_request = true;
  // One block is held back as the null block, and the check knows it.
  bool does_reserve_null_block = true;
  // Windows and chunks hold the tokens of every batch in flight; before, of
  // one.
  bool does_count_in_flight = true;
  // Layers of several page sizes: a request takes as many blocks as the most
  // demanding; before, the sum of the layers' own bytes was checked.
  bool does_check_by_blocks = true;
  // States keep a block more for the checkpoint of a long prefill.
  bool has_prefill_checkpoints = true;
  // Blocks beside such states end where a checkpoint may be written.
  bool does_align_to_checkpoints = true;
  // Prefix caching of state layers is on unless asked otherwise, in mode
  // "align".
  bool are_states_cached_by_default = true;
  // Layers with a window choose a block size of their own.
  bool has_own_window_blocks = true;
  KvGroupingRules grouping;
};

KvRules RulesOf(Release release);

}  // namespace foretell::vllm

#endif  // FORETELL_ENGINES_VLLM_KV_RULES_H_
