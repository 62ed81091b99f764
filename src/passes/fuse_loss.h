// The loss by a kernel that does not keep what the library's own operations
// keep of the logits.
//
// In: a compiled graph and its logits. Changed: the bytes of the storages that
// are as large as the logits. Out: by operation, what lives beside while it
// runs.
//
// kFused: the logits' float32 copy becomes its gradient in place; what the
// library makes of it is not made. Source: unslothai/unsloth,
// kernels/cross_entropy_loss.py.
// kChunked: head and loss run over some tokens at a time, which already makes
// the gradients of the head's input and, where it trains, of its weight; both
// wait for the backward. Tokens of a chunk: the power of two from
// tokens / ceil(vocabulary / hidden) on.
// Source: linkedin/Liger-Kernel, ops/fused_linear_cross_entropy.py.
//
// An estimate: other operations of the loss are left as they are.
#ifndef FORETELL_PASSES_FUSE_LOSS_H_
#define FORETELL_PASSES_FUSE_LOSS_H_

#include <cstdint>
#include <vector>

#include "graph/graph.h"
#include "passes/logits.h"
#include "spec/training_job.h"

namespace foretell {

// `logits` has storages, and `kind` is not kLibrary.
std::vector<int64_t> FuseLoss(Graph& graph, const Logits& logits,
                              LossKind kind);

}  // namespace foretell

#endif  // FORETELL_PASSES_FUSE_LOSS_H_
