// Fused kernels in place of a block's element-wise operations: norms, gated
// MLPs.
//
// In: a compiled graph. Changed: the bytes of storages that such a kernel does
// not make. Nothing comes beside.
//
// Norms (RMS): the kernel keeps its input in the input's own dtype and one
// number a row, where the library keeps a float32 copy, the normalized value
// and more; its backward writes the gradient in place of the one it is given.
// Source: linkedin/Liger-Kernel 0.8, ops/rms_norm.py; unslothai/unsloth
// 2026.10, kernels/rms_layernorm.py.
// Gated MLPs: the activation is computed again in the backward, whose results
// take the place of what was kept. Source: Liger-Kernel 0.8, ops/swiglu.py,
// ops/geglu.py; unsloth 2026.10, kernels/swiglu.py, kernels/geglu.py.
// Unsloth's MLP of adapted layers computes its own product again, too.
// Source: unsloth 2026.10, kernels/fast_lora.py (LoRA_MLP).
//
// torch.compile fuses the same, as far as it recomputes what is cheap; that is
// an estimate of what its partitioner does, not its rule.
// Source: torch 2.15, torch/_functorch/partitioners.py.
//
// Not modelled: rotary embeddings in place, which keep nothing either way.
#ifndef FORETELL_PASSES_FUSE_KERNELS_H_
#define FORETELL_PASSES_FUSE_KERNELS_H_

#include "graph/graph.h"

namespace foretell {

struct FusedParts {
  bool norms = true;
  bool gates = true;
  bool products = false;  // of the gate and the other half, computed again
};

void FuseKernels(Graph& graph, const FusedParts& parts);

}  // namespace foretell

#endif  // FORETELL_PASSES_FUSE_KERNELS_H_
