// Activations that do not stay on the card from the forward to the backward:
// on the host, or computed again without a checkpoint of the whole block.
//
// In: a compiled graph, and which storages the forward keeps for the backward.
// Out: by operation, bytes to add to what lives (negative where they are gone),
// and how many bytes there are in all.
//
// To the host: a tensor that autograd keeps is copied as its last reader of the
// forward has run, and comes back for its first reader of the backward; those
// of the neighbouring operations are under way at the same time.
// Source: torchtune 0.6, training/_activation_offloading.py
// (OffloadActivations; trl and Axolotl carry it), max_fwd_stash_size 5, tensors
// of 1,024 bytes or more.
// Attention's scores alone: [batch, heads, length, length], run again in the
// backward of each block. Source: NVIDIA/Megatron-LM core 0.14,
// transformer/attention.py (_checkpointed_attention_forward).
#ifndef FORETELL_PASSES_MOVE_ACTIVATIONS_H_
#define FORETELL_PASSES_MOVE_ACTIVATIONS_H_

#include <cstdint>
#include <vector>

#include "graph/graph.h"

namespace foretell {

struct MovedActivations {
  std::vector<int64_t> beside;  // by operation
  int64_t bytes = 0;
};

// `kept` says of each storage whether it lives past the forward.
MovedActivations OffloadActivations(const Graph& graph,
                                    const std::vector<bool>& kept);

// Storages with `tokens` rows and columns per sequence that attention keeps;
// changed: they take no bytes, but while the backward of their block runs.
MovedActivations RecomputeScores(Graph& graph, const std::vector<bool>& kept,
                                 int64_t sequence);

}  // namespace foretell

#endif  // FORETELL_PASSES_MOVE_ACTIVATIONS_H_
