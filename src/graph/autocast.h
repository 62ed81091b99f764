// torch.autocast on a CUDA device: which calls take their inputs in the lower
// precision, which in float32, and the casts of parameters that are made once.
//
// Autocast stands before autograd, so what it casts is what a backward keeps. A
// call that it takes runs inside without it: a linear layer's matrix product
// casts nothing more. Most such calls are one operation, and its row names the
// policy (OperationRow::autocast). What is several (linear, matmul,
// scaled_dot_product_attention) casts as a whole, by an `AutocastCall` in its
// function; what takes the dtype of its result (softmax, sum) asks for
// `AutocastResult`.
// A float32 leaf that takes a gradient is cast once and kept until the outer
// context ends: two uses of a parameter share one copy, which lives for the
// whole forward.
// Source: torch 2.15, aten/src/ATen/autocast_mode.h (AT_FORALL_LOWER_
// PRECISION_FP, AT_FORALL_FP32, AT_FORALL_FP32_SET_OPT_DTYPE),
// autocast_mode.cpp (cached_cast), torch/amp/autocast_mode.py. Arguments are
// cast last first, as g++ evaluates them. Does not model: other devices' lists,
// the promote policy, a disabled cache.
//
//   const AutocastCall call(builder, AutocastPolicy::kLower, {&x, &weight});
#ifndef FORETELL_GRAPH_AUTOCAST_H_
#define FORETELL_GRAPH_AUTOCAST_H_

#include <initializer_list>
#include <optional>
#include <span>

#include "base/dtype.h"
#include "graph/builder.h"
#include "graph/operation_row.h"

namespace foretell {

// `with torch.autocast("cuda", dtype):`; without a dtype it is switched off.
class AutocastScope {
 public:
  AutocastScope(Builder& builder, std::optional<DType> dtype);
  ~AutocastScope();
  AutocastScope(const AutocastScope&) = delete;
  AutocastScope& operator=(const AutocastScope&) = delete;

 private:
  Builder* builder_;
  std::optional<DType> outer_;
};

// Casts what a call takes, empty tensors left out, and switches autocast off
// until the call is over.
class AutocastCall {
 public:
  AutocastCall(Builder& builder, AutocastPolicy policy,
               std::initializer_list<Tensor*> arguments);
  AutocastCall(Builder& builder, AutocastPolicy policy,
               std::span<Tensor> arguments);
  ~AutocastCall();
  AutocastCall(const AutocastCall&) = delete;
  AutocastCall& operator=(const AutocastCall&) = delete;

 private:
  Builder* builder_;
  std::optional<DType> outer_;
};

// The dtype that autocast names as a result's where the call names none;
// nothing where it is off or `x` is no half or float32.
std::optional<DType> AutocastResult(const Tensor& x);

}  // namespace foretell

#endif  // FORETELL_GRAPH_AUTOCAST_H_
