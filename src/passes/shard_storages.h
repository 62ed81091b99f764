// One rank's share of a step that several cards divide among themselves: which
// storages it holds a part of, and what it gathers while it computes.
//
// In: a compiled graph, which storages are gradients of parameters, and how
// often each region happens in the whole model (once each where it is empty).
// Changed: the bytes of storages that are divided. Out: by operation, what the
// rank holds beside: gathered parameters, gradients that are not yet reduced,
// and communication buffers.
//
// DDP: buckets hold the gradients a second time, once they have been built.
// ZeRO 1 to 3: states, gradients, parameters are divided.
// FSDP 1: in use are the block's flat parameter and, in the backward, the next
// block's; gradients of the block, and of the one before as they are reduced.
// FSDP 2: as FSDP 1, and the buffers that parameters were gathered in stay
// until the next block is gathered. What lies in no block is gathered from the
// first operation to the backward's last.
// Source: recordings of PyTorch 2.15's own wrappers, one rank each; what they
// showed is told in docs/design.md.
//
// An estimate: prefetching is taken as the wrappers' default does it.
#ifndef FORETELL_PASSES_SHARD_STORAGES_H_
#define FORETELL_PASSES_SHARD_STORAGES_H_

#include <cstdint>
#include <span>
#include <vector>

#include "graph/graph.h"
#include "spec/training_job.h"

namespace foretell {

std::vector<int64_t> ShardStorages(Graph& graph, const TrainingJob& job,
                                   std::span<const StorageId> gradients,
                                   std::span<const int64_t> copies = {});

}  // namespace foretell

#endif  // FORETELL_PASSES_SHARD_STORAGES_H_
