// How vLLM splits a model's layers into groups that share a table of blocks.
//
// In: every layer's specification, in the order in which the model registers
// them. Out: the groups and the bytes of a block, or the words of a refusal.
// Source: vllm/v1/core/kv_cache_planning.py of 0.33.0, kv_cache_utils.py of
// 0.19.0 and before.
#ifndef FORETELL_ENGINES_VLLM_KV_GROUPS_H_
#define FORETELL_ENGINES_VLLM_KV_GROUPS_H_

#include <optional>
#include <string>
#include <vector>

#include "engines/vllm/kv_spec.h"

namespace foretell::vllm {

struct KvLayer {
  std::string name;  // "model.layers.3.self_attn.attn"
  KvSpec spec;
  bool is_draft = false;  // of a drafter
  int64_t stage = 0;      // of the pipeline
};

struct KvGroup {
  KvSpec spec;  // of all its layers; of the first where they differ
  // UniformTypeKVCacheSpecs: pages differ, token slots do not. `layers` then
  // keep specifications of their own.
  bool is_mixed = false;
  std::vector<KvLayer> layers;
};

struct KvGroupingRules {
  bool is_hybrid_disabled = false;  // --disable-hybrid-kv-cache-manager
  bool is_block_outermost = false;  // the layout packs layers inside a block
  bool does_pad_attention = true;   // pages that do not divide are padded
  bool does_pack_mixed = true;      // packing of mixed pages exists at all
  // A group takes the larger kind's count below this ratio of counts.
  double padding_ratio = 1.5;
  bool does_merge_windows = true;  // full layers with and without a window
};

struct KvGrouping {
  std::vector<KvGroup> groups;
  std::optional<std::string> fault;  // what vLLM refuses, in short
};

KvGrouping GroupLayers(std::vector<KvLayer> layers,
                       const KvGroupingRules& rules);

// The groups with the layers of one stage of the pipeline only.
std::vector<KvGroup> GroupsOfStage(const std::vector<KvGroup>& groups,
                                   int64_t stage);

// Bytes of one block id in the pool: the largest group's pages.
int64_t BlockBytes(const std::vector<KvGroup>& groups, bool is_block_outermost);

// Blocks that one request takes, over all groups; where `of_first`, a mixed
// group counts as its first layer does (what is printed), else as the most
// demanding (what is checked).
int64_t RequestBlocks(const std::vector<KvGroup>& groups,
                      const KvRequestSize& request, bool of_first);

}  // namespace foretell::vllm

#endif  // FORETELL_ENGINES_VLLM_KV_GROUPS_H_
