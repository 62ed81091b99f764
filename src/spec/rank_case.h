// How one step is divided among cards by data, and whose share is meant.
//
// The settings are those of PyTorch's own wrappers, under the words of
// tools/pytorch's sharded recordings; every rank runs the whole model on its
// own micro-batch.
#ifndef FORETELL_SPEC_RANK_CASE_H_
#define FORETELL_SPEC_RANK_CASE_H_

#include <cstdint>
#include <optional>

#include "base/dtype.h"

namespace foretell {

enum class Wrapper : uint8_t {
  kFsdp2,    // fully_shard on each block and on the root
  kFsdp1,    // FullyShardedDataParallel, use_orig_params, a unit per block
  kDdp,      // DistributedDataParallel
  kDdpView,  // the same with gradient_as_bucket_view
};

struct RankCase {
  Wrapper wrapper = Wrapper::kFsdp2;
  int64_t ranks = 8;
  int64_t rank = 0;
  DType dtype = DType::kFloat32;  // of what a rank holds of the parameters
  // FSDP's mixed precision: of gathered parameters, and of reduced gradients.
  std::optional<DType> param_dtype;
  std::optional<DType> reduce_dtype;
  bool reshards = true;  // FSDP 2: blocks are freed after their forward
  // FSDP 1: the next block is gathered as the backward of one begins.
  bool prefetches = true;
  // torchtitan's units beside the blocks: the embedding, and norm with head.
  bool has_ends = false;
  // The class computes no loss: the caller sums what its forward returns.
  bool sums_outside = false;
  int64_t accumulate = 1;       // micro-steps before the optimizer's
  bool reduces_always = false;  // in each micro-step, not in the last alone
  int64_t bucket_mib = 0;       // DDP's buckets; 0: PyTorch's own sizes
  // What does not train keeps the dtype that it computes in, and is, by
  // FSDP 1, flattened apart from what does (peft's policy of wrapping).
  bool frozen_apart = false;
  // Reduced gradients go to the host at once, as FSDP's offload has it.
  bool gradients_on_host = false;
  bool evaluates = false;  // a forward alone, without gradients
  int64_t rounding = 1;    // that the sizes of tensors are rounded up to
};

}  // namespace foretell

#endif  // FORETELL_SPEC_RANK_CASE_H_
