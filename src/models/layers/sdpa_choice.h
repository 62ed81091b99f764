// torch.nn.functional.scaled_dot_product_attention on an H100 (sm90): which
// kernel it picks, and what it executes around it.
//
// By half we mean bfloat16 and float16, d is the width of a head, s and t the
// lengths of queries and keys. The first that takes the call is used:
//   cuDNN      half, no dropout, no mask that takes a gradient, t > 1, d a
//              multiple of 8, and d at most 128 or 256 where a backward
//              follows, at most 256 else
//   flash      half, no mask, d at most 256, and s = t where causal; a d that
//              is no multiple of 8 is padded
//   efficient  d fills whole 16 bytes, in half and float32; the mask's last
//              axis steps by one; a mask whose rows do not begin at multiples
//              of 8 elements is padded
//   math       anything, as single operations; half is computed in float32
// Source: torch 2.15, aten/src/ATen/native/transformers/cuda/sdp_utils.cpp,
// transformers/attention.cpp (validation, padding, math). The table holds for
// sm90 with the cuDNN of that release, and was checked against 10512 recorded
// choices (dtype, d, s, t, mask, dropout, grouped heads, causal, gradient).
// Does not model: other devices, disabled kernels, deterministic mode.
#ifndef FORETELL_MODELS_LAYERS_SDPA_CHOICE_H_
#define FORETELL_MODELS_LAYERS_SDPA_CHOICE_H_

#include <cstdint>

#include "base/dtype.h"
#include "graph/builder.h"

namespace foretell {

enum class SdpaKernelKind { kCudnn, kFlash, kEfficient, kMath };

struct SdpaCall {
  DType dtype = DType::kFloat32;
  int64_t head_dim = 0;
  int64_t queries = 0;
  int64_t keys = 0;
  bool has_mask = false;
  bool learns_mask = false;       // the mask takes a gradient
  bool has_strided_mask = false;  // its last axis does not step by one
  bool has_dropout = false;
  bool causal = false;
  bool keeps = false;  // a backward follows
};

SdpaKernelKind ChooseSdpaKernel(const SdpaCall& call);

// q [b, h, s, d], k and v [b, h_kv, t, d] -> [b, h, s, d]. `mask` is bool or
// added to the scores, [1 or b, 1 or h, s, t], or empty. Keys and values of
// fewer heads are meant as enable_gqa.
Tensor SdpaKernel(const Tensor& q, const Tensor& k, const Tensor& v,
                  Tensor mask, double dropout, bool causal, double scale);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_SDPA_CHOICE_H_
