// What PyTorch and the driver take on a card beside tensors: workspaces of
// libraries, the caching allocator's holes, the context, NCCL's buffers.
//
// Each is a named term with an interval. Allocated, reserved and what
// nvidia-smi shows are three figures: tensors and workspaces; with the holes
// of the allocator; with what lies outside it.
//
// cuBLAS keeps a workspace for each handle and stream: the loop's thread and
// autograd's have one each, 8,519,680 bytes, on Hopper 33,554,432.
// Source: torch 2.15, aten/src/ATen/cuda/CublasHandlePool.cpp.
//
// The context and the modules loaded into it: 0.47 GiB (A100, loaded lazily,
// torch 2.1) to 1.31 GiB (V100, 2022), 0.55 to 0.71 on H200; 1.4 claimed for
// RTX 50. With several ranks NCCL adds some 1.5 GiB, far more with many
// groups. Reserved over allocated: 1.03 to 1.09 with one size of batch, 1.1 to
// 1.25 and a long tail with sizes that vary.
// Source: the measured training runs whose logs print several of them.
#ifndef FORETELL_ENGINES_PYTORCH_DEVICE_MEMORY_H_
#define FORETELL_ENGINES_PYTORCH_DEVICE_MEMORY_H_

#include <cstdint>

#include "base/figure.h"

namespace foretell {

// Of all handles of one process; exact for the version named above.
int64_t CublasWorkspaceBytes(int capability);

// Sizes are rounded up to this by the caching allocator.
inline constexpr int64_t kAllocatorRounding = 512;

// How many sizes a run's batches have. With many, every new size wants blocks
// that none of those cached fits, so that holes grow with what a step makes
// anew; a tool that evaluates between steps holds that step's logits beside.
enum class BatchSizes : uint8_t { kOne, kMany, kManyAndEvaluation };

// Holes and cached blocks of the allocator over `allocated` bytes at a peak.
Bytes AllocatorSlack(const Bytes& allocated);

// The same where of these `made` bytes are made anew in every step.
// Source: reserved memory of measured runs over their derived peaks (ms-swift
// 2's tables of models and lengths, Qwen's own of lengths).
Bytes AllocatorSlack(const Bytes& allocated, double made, BatchSizes sizes);

Bytes ContextBytes();

Bytes CommunicatorBytes(int64_t gpus);

}  // namespace foretell

#endif  // FORETELL_ENGINES_PYTORCH_DEVICE_MEMORY_H_
