// torch.nn.functional.scaled_dot_product_attention on an NVIDIA card: which
// kernel it picks, and what it executes around it.
//
// By half we mean bfloat16 and float16, d is the width of a head of queries and
// keys, d_v that of values, s and t the lengths of queries and keys. The first
// that takes the call is used:
//   cuDNN      on sm90 and sm100 to sm106: half, a dropout of whole
//              sixteenths (none where s = 1), no mask that takes a gradient,
//              t > 1, d and d_v multiples of 8 and at most 256, where a
//              backward follows at most 128, both 256, or 192 and 128
//   flash      from sm80 on: half, no mask, d = d_v at most 256, and where
//              causal s = t; on sm86, sm89 and sm120 no backward of d past 192,
//              but of d past 224 without dropout; a d that is no multiple of 8
//              is padded
//   efficient  d and d_v fill 16 bytes, on sm75 in half only; bfloat16 from
//              sm80 on; the mask's last axis steps by one; a mask whose rows do
//              not begin at multiples of 8 elements is padded
//   math       anything, as single operations; half is computed in float32
// Source: torch 2.15, aten/src/ATen/native/transformers/cuda/sdp_utils.cpp,
// transformers/attention.cpp (validation, padding, math). The table holds for
// the cuDNN of that release on CUDA 13, and was checked against 106202 recorded
// choices (card, dtype, d, d_v, s, t, mask, dropout, grouped heads, causal,
// gradient).
// Does not model: AMD's cards, disabled kernels, deterministic mode, storages
// that begin at odd places.
#ifndef FORETELL_MODELS_LAYERS_SDPA_CHOICE_H_
#define FORETELL_MODELS_LAYERS_SDPA_CHOICE_H_

#include <cstdint>
#include <string>

#include "base/dtype.h"
#include "graph/builder.h"

namespace foretell {

enum class SdpaKernelKind { kCudnn, kFlash, kEfficient, kMath };

struct SdpaCall {
  DType dtype = DType::kFloat32;
  int capability = 90;  // as in Execution
  int64_t head_dim = 0;
  int64_t value_dim = 0;
  int64_t queries = 0;
  int64_t keys = 0;
  bool has_mask = false;
  bool learns_mask = false;       // the mask takes a gradient
  bool has_strided_mask = false;  // its last axis does not step by one
  double dropout = 0;
  bool causal = false;
  bool keeps = false;  // a backward follows
};

SdpaKernelKind ChooseSdpaKernel(const SdpaCall& call);

// Why the call came to this kernel: what those before it refuse, in words.
std::string WhySdpaKernel(SdpaKernelKind kind, const SdpaCall& call);
// The same of the math kernel, where no fused one takes such a call whatever
// its heads are: `call` has multiples of 16 bytes, no mask. Empty otherwise.
std::string WhyOnlyMath(const SdpaCall& call);

// q [b, h, s, d], k and v [b, h_kv, t, d] -> [b, h, s, d]. `mask` is bool or
// added to the scores, [1 or b, 1 or h, s, t], or empty. Keys and values of
// fewer heads are meant as enable_gqa.
Tensor SdpaKernel(Tensor q, Tensor k, Tensor v, Tensor mask, double dropout,
                  bool causal, double scale);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_SDPA_CHOICE_H_
