// What optimizers keep and take that are not written operation by operation:
// bytes of their states, and of what their step makes on the way.
//
// In: the optimizer's name and the tensors that train, as one rank has them.
// Out: bytes. Those of torch itself (passes/optimizer.h) are not here.
//
//   adamw_bnb         bitsandbytes: float32 moments, whatever the dtype
//   adamw_8bit        bitsandbytes: a byte for each moment of a tensor of 4,096
//                     elements or more with a float32 scale for every 256; the
//                     moments of smaller ones are float32
//   paged_adamw       bitsandbytes: float32 moments in managed memory, which
//                     the caching allocator does not hold; those of fewer than
//                     100,000 elements, and all scales, stay on the card
//   paged_adamw_8bit  both
//   ademamix_8bit     bitsandbytes: three such moments
//   adamw_torchao_8bit, adamw_torchao_4bit, adamw_torchao_fp8
//                     torchao: codes and a float32 scale for every 256, 128 or
//                     256 elements, where the size divides; else the tensor's
//                     dtype
//   lion, lion_8bit, paged_lion_8bit   one moment
//   sgd_momentum      torch.optim.SGD(momentum=…): one, in the tensor's dtype
//   muon              one moment of matrices, in the tensor's dtype, and AdamW
//                     for the rest; its step holds four bfloat16 copies of the
//                     largest matrix
//   galore_adamw      galore-torch: moments of a matrix in 128 dimensions of
//                     its smaller side, beside their basis; its step holds the
//                     decomposition of the largest matrix in float32
// Source: bitsandbytes 0.50, optim/optimizer.py (min_8bit_size, blocks of 256,
// get_state_buffer); torchao 0.18, optim/{adam,subclass_8bit,subclass_4bit,
// subclass_fp8}.py; torch 2.15, optim/_muon.py; galore-torch 1.0,
// galore_projector.py (proj_type std, rank 128 as its README has it).
#ifndef FORETELL_ENGINES_PYTORCH_OPTIMIZER_MEMORY_H_
#define FORETELL_ENGINES_PYTORCH_OPTIMIZER_MEMORY_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/dtype.h"

namespace foretell {

struct TrainedTensor {
  int64_t elements = 0;
  DType dtype = DType::kFloat32;
  bool is_matrix = false;  // of two or more axes, and no table or head
  int64_t count = 1;       // of such tensors
  int64_t columns = 0;     // of a matrix
};

struct OptimizerMemory {
  int64_t states = 0;       // bytes, held by the allocator
  int64_t managed = 0;      // bytes in managed memory: on the card or the host
  int64_t temporaries = 0;  // at most at a time, during the step
};

// Nothing for a name that is not in the list above.
std::optional<OptimizerMemory> OptimizerMemoryOf(
    std::string_view name, std::span<const TrainedTensor> tensors);

std::vector<std::string_view> OptimizersByRule();

}  // namespace foretell

#endif  // FORETELL_ENGINES_PYTORCH_OPTIMIZER_MEMORY_H_
