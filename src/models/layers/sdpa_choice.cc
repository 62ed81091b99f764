#include "models/layers/sdpa_choice.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/autocast.h"
#include "graph/ops/attention.h"
#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/indexing.h"
#include "graph/ops/reduction.h"
#include "graph/ops/views.h"
#include "models/layers/dropout.h"
#include "models/layers/functional.h"

namespace foretell {
namespace {

bool IsHalf(DType dtype) {
  return dtype == DType::kBFloat16 || dtype == DType::kFloat16;
}

// The cards on which cuDNN goes first; on others it comes after what takes
// everything.
bool PrefersCudnn(int capability) {
  return capability == 90 || (capability >= 100 && capability < 107);
}

// Why a kernel does not take the call; empty where it does.
std::string_view CudnnRefusal(const SdpaCall& call) {
  if (!PrefersCudnn(call.capability)) {
    return "goes first on sm90 and sm100 to sm106 only";
  }
  if (!IsHalf(call.dtype)) return "takes bfloat16 and float16 only";
  if (call.keys < 2) return "takes two keys or more";
  if (call.learns_mask) return "takes no mask that has a gradient";
  const double sixteenths = call.dropout * 16;
  if (sixteenths != std::floor(sixteenths)) {
    return "takes a dropout of whole sixteenths only";
  }
  if (call.dropout != 0 && call.queries == 1) {
    return "drops nothing of one query";
  }
  const int64_t d = call.head_dim;
  const int64_t d_v = call.value_dim;
  if (d % 8 != 0 || d_v % 8 != 0 || d > 256 || d_v > 256) {
    return "takes heads of multiples of 8 up to 256";
  }
  const bool has_backward = (d <= 128 && d_v <= 128) ||
                            (d == 192 && d_v == 128) ||
                            (d == 256 && d_v == 256);
  if (call.keeps && !has_backward) {
    return "has a backward for heads up to 128, of 256, and of 192 over 128";
  }
  return {};
}

bool CudnnTakes(const SdpaCall& call) { return CudnnRefusal(call).empty(); }

// Cards whose shared memory is too small for the backward of wide heads.
bool LacksWideBackward(int capability) {
  return (capability >= 86 && capability <= 89) || capability >= 120;
}

std::string_view FlashRefusal(const SdpaCall& call) {
  if (call.capability < 80) return "runs from sm80 on";
  if (!IsHalf(call.dtype)) return "takes bfloat16 and float16 only";
  if (call.has_mask) return "takes no mask";
  const int64_t d = call.head_dim;
  if (d != call.value_dim || d > 256) {
    return "takes keys and values of one width up to 256";
  }
  if (call.keeps && LacksWideBackward(call.capability) && d > 192 &&
      (d <= 224 || call.dropout > 0)) {
    return "has no backward for heads this wide on this card";
  }
  if (call.causal && call.queries != call.keys) {
    return "takes a causal call of as many queries as keys only";
  }
  return {};
}

bool FlashTakes(const SdpaCall& call) { return FlashRefusal(call).empty(); }

std::string_view EfficientRefusal(const SdpaCall& call) {
  const bool is_half = IsHalf(call.dtype);
  if (!is_half && call.dtype != DType::kFloat32) {
    return "takes bfloat16, float16 and float32 only";
  }
  if (call.has_strided_mask) return "takes a mask whose last axis is dense";
  if (call.capability < 80) {
    if (call.dtype == DType::kBFloat16) return "takes bfloat16 from sm80 on";
    if (!is_half) return {};  // computed without tensor cores
  }
  const int64_t step = 16 / BytesOf(call.dtype);
  if (call.head_dim % step != 0 || call.value_dim % step != 0) {
    return "takes heads that fill 16 bytes";
  }
  return {};
}

bool EfficientTakes(const SdpaCall& call) {
  return EfficientRefusal(call).empty();
}

// A bool mask as what is added to the scores: 0 or minus infinity.
Tensor AddedMask(const Tensor& mask, DType dtype) {
  Builder& builder = mask.builder();
  const Tensor hidden =
      ScalarTensor(builder, -std::numeric_limits<double>::infinity(), dtype);
  const Tensor seen = ScalarTensor(builder, 0.0, dtype);
  return Where(mask, seen, hidden);
}

// pad_bias: rows of the mask begin at multiples of 8 elements. The caller's
// mask is replaced only when all is done, so it lives until then.
Tensor AlignedMask(const Tensor& mask, const Shape& scores) {
  constexpr int64_t kAlignment = 8;
  const Value& value = mask.builder().ValueOf(mask.id());
  const int rank = value.shape.rank();
  bool is_aligned = rank > 0 && value.strides[-1] == 1;
  for (int axis = 0; axis + 1 < rank; ++axis) {
    is_aligned = is_aligned && value.strides[axis] % kAlignment == 0;
  }
  if (!is_aligned) {
    const int64_t length = mask.size(-1);
    const int64_t missing = kAlignment - length % kAlignment;
    Tensor padded = ConstantPad(mask, 0, missing, 0);
    padded = Slice(padded, -1, 0, length);
    return Expand(padded, scores);
  }
  return Expand(mask, scores);
}

// repeat_interleave along the heads.
Tensor RepeatHeads(const Tensor& x, int64_t heads) {
  const Shape own = x.shape();
  const int64_t repeats = own[1] > 0 ? heads / own[1] : 1;
  const Tensor spread =
      Expand(Unsqueeze(x, 2), {own[0], own[1], repeats, own[2], own[3]});
  return View(CloneContiguous(spread), {own[0], heads, own[2], own[3]});
}

// _scaled_dot_product_attention_math
Tensor MathAttention(const Tensor& query, const Tensor& key,
                     const Tensor& value, Tensor mask, double dropout,
                     bool causal, double scale) {
  const DType dtype = query.dtype();
  const DType inner = IsHalf(dtype) ? DType::kFloat32 : dtype;
  Builder& builder = query.builder();
  const Tensor exact = To(query, inner);
  Tensor k = To(key, inner);
  Tensor v = To(value, inner);
  const double root = std::sqrt(scale);
  const Tensor q = MulNumber(exact, root);
  if (causal) {
    const Tensor seen =
        Tril(Ones(builder, {q.size(2), k.size(2)}, DType::kBool));
    mask = AddedMask(seen, inner);
  }
  if (k.size(1) != q.size(1)) {
    k = RepeatHeads(k, q.size(1));
    v = RepeatHeads(v, q.size(1));
  }
  Tensor scores = Matmul(q, MulNumber(Transpose(k, -2, -1), root));
  if (!mask.empty()) scores = Add(scores, mask);
  scores = SafeSoftmax(scores, -1);
  scores = ApplyDropout(scores, dropout);
  // Handed out beside the result, and dropped by the caller.
  const Tensor second = To(scores, dtype);
  return To(Matmul(scores, v), dtype);
}

// Heads padded to a multiple of 8 dims, and the result cut to what was asked.
Tensor PaddedFlash(const Tensor& q, const Tensor& k, const Tensor& v,
                   double dropout, bool causal, double scale) {
  const int64_t dim = q.size(-1);
  const int64_t missing = (8 - dim % 8) % 8;
  if (missing == 0) return FlashAttention(q, k, v, dropout, causal, scale)[0];
  const Tensor padded_q = ConstantPad(q, 0, missing, 0);
  const Tensor padded_k = ConstantPad(k, 0, missing, 0);
  const Tensor padded_v = ConstantPad(v, 0, missing, 0);
  const std::vector<Tensor> outputs =
      FlashAttention(padded_q, padded_k, padded_v, dropout, causal, scale);
  return Slice(outputs[0], -1, 0, dim);
}

bool RequiresGrad(const Tensor& x) {
  return !x.empty() && x.builder().ValueOf(x.id()).requires_grad;
}

// flash-attention's own kernels: PyTorch's, built from the same source, keeps
// the same tensors.
Tensor FlashAttentionLibrary(const Tensor& q, const Tensor& k, const Tensor& v,
                             const Tensor& mask, const SdpaCall& call,
                             double scale) {
  Builder& builder = q.builder();
  if (call.dtype != DType::kBFloat16 && call.dtype != DType::kFloat16) {
    builder.Fail("flash-attention takes bfloat16 and float16 only");
  } else if (!mask.empty()) {
    builder.Fail("flash-attention adds no mask and no bias to scores");
  } else if (call.head_dim != call.value_dim || call.head_dim > 256) {
    builder.Fail("flash-attention takes heads of one width up to 256");
  } else if (call.capability < 80) {
    builder.Fail("flash-attention 2 runs from sm80 on");
  }
  return PaddedFlash(q, k, v, call.dropout, call.causal, scale);
}

}  // namespace

SdpaKernelKind ChooseSdpaKernel(const SdpaCall& call) {
  if (CudnnTakes(call)) return SdpaKernelKind::kCudnn;
  if (FlashTakes(call)) return SdpaKernelKind::kFlash;
  if (EfficientTakes(call)) return SdpaKernelKind::kEfficient;
  return SdpaKernelKind::kMath;
}

std::string WhySdpaKernel(SdpaKernelKind kind, const SdpaCall& call) {
  if (kind == SdpaKernelKind::kCudnn) return "the first that it asks";
  std::string out = fmt::format("cuDNN's {}", CudnnRefusal(call));
  if (kind == SdpaKernelKind::kFlash) return out;
  out += fmt::format("; flash's {}", FlashRefusal(call));
  if (kind == SdpaKernelKind::kEfficient) return out;
  return out + fmt::format("; memory-efficient's {}", EfficientRefusal(call));
}

std::string WhyOnlyMath(const SdpaCall& call) {
  if (CudnnTakes(call) || FlashTakes(call) || EfficientTakes(call)) return {};
  return WhySdpaKernel(SdpaKernelKind::kMath, call);
}

Tensor SdpaKernel(Tensor q, Tensor k, Tensor v, Tensor mask, double dropout,
                  bool causal, double scale) {
  const AutocastCall autocast(q.builder(), AutocastPolicy::kLower,
                              {&q, &k, &v, &mask});
  if (!q.builder().execution().training) dropout = 0;
  SdpaCall call;
  call.dtype = q.dtype();
  call.capability = q.builder().execution().capability;
  call.head_dim = q.size(-1);
  call.value_dim = v.size(-1);
  call.queries = q.size(-2);
  call.keys = k.size(-2);
  call.has_mask = !mask.empty();
  call.learns_mask = RequiresGrad(mask);
  call.has_strided_mask = call.has_mask &&
                          q.builder().ValueOf(mask.id()).strides.rank() > 0 &&
                          q.builder().ValueOf(mask.id()).strides[-1] != 1;
  call.dropout = dropout;
  call.causal = causal;
  call.keeps = RequiresGrad(q) || RequiresGrad(k) || RequiresGrad(v) ||
               RequiresGrad(mask);
  if (q.builder().execution().flash) {
    return FlashAttentionLibrary(q, k, v, mask, call, scale);
  }
  if (!mask.empty() && mask.dtype() == DType::kBool) {
    mask = AddedMask(mask, q.dtype());
  }
  switch (ChooseSdpaKernel(call)) {
    case SdpaKernelKind::kCudnn:
      return CudnnAttention(q, k, v, mask, call.keeps, dropout, causal, scale);
    case SdpaKernelKind::kFlash:
      return PaddedFlash(q, k, v, dropout, causal, scale);
    case SdpaKernelKind::kEfficient:
      if (!mask.empty()) {
        mask = AlignedMask(mask, {q.size(0), q.size(1), q.size(2), k.size(2)});
      }
      return EfficientAttention(q, k, v, mask, call.keeps, dropout, causal,
                                scale);
    case SdpaKernelKind::kMath:
      return MathAttention(q, k, v, std::move(mask), dropout, causal, scale);
  }
  return q;
}

}  // namespace foretell
