// Groups whose layers have pages of several sizes, side by side in a block.
//
// In: layers that neither merge nor are uniform, under a layout that puts the
// blocks outermost (DeepSeek V4). Out: groups as vLLM packs them; nothing
// where all pages are equal, so that there is nothing to pack.
// Source: _get_packed_kv_cache_groups of vllm/v1/core/kv_cache_planning.py.
#ifndef FORETELL_ENGINES_VLLM_KV_PACKING_H_
#define FORETELL_ENGINES_VLLM_KV_PACKING_H_

#include <optional>
#include <vector>

#include "engines/vllm/kv_groups.h"

namespace foretell::vllm {

std::optional<std::vector<KvGroup>> PackGroups(
    const std::vector<KvLayer>& layers);

}  // namespace foretell::vllm

#endif  // FORETELL_ENGINES_VLLM_KV_PACKING_H_
