// Fused scaled-dot-product attention, by kernel.
//
// Which kernel sdpa picks, and the layout of its result: torch 2.15,
// aten/src/ATen/native/transformers/cuda/sdp_utils.cpp and attention.cu.
// FLOPs: torch/utils/flop_counter.py (sdpa_flop_count,
// sdpa_backward_flop_count): causality is not halved.
#ifndef FORETELL_GRAPH_OPS_ATTENTION_H_
#define FORETELL_GRAPH_OPS_ATTENTION_H_

#include <span>
#include <vector>

#include "graph/builder.h"
#include "graph/operation_row.h"

namespace foretell {

std::span<const OperationRow* const> AttentionOperations();

// query [b, h, s, d], key and value [b, h_kv, t, d] -> [b, h, s, d_v].
// `bias` may be empty. `keeps` says that a backward will follow.
Tensor CudnnAttention(Tensor query, Tensor key, Tensor value, Tensor bias,
                      bool keeps, double dropout, bool causal, double scale);
Tensor EfficientAttention(Tensor query, Tensor key, Tensor value, Tensor bias,
                          bool keeps, double dropout, bool causal,
                          double scale);
// The result first; torch's own code holds all outputs while it cuts padding
// off the result.
std::vector<Tensor> FlashAttention(Tensor query, Tensor key, Tensor value,
                                   double dropout, bool causal, double scale);
// The gradients of query, key and value. `inputs` are that of the result,
// query, key, value, the result, its sums, and the two numbers of the dropout;
// cuDNN's bias comes last.
std::vector<Tensor> CudnnAttentionBackward(std::span<const Tensor> inputs);
std::vector<Tensor> FlashAttentionBackward(std::span<const Tensor> inputs);
// Here a bias stands after the value; its gradient comes fourth where it is
// asked for.
std::vector<Tensor> EfficientAttentionBackward(std::span<const Tensor> inputs,
                                               bool wants_bias);

}  // namespace foretell

#endif  // FORETELL_GRAPH_OPS_ATTENTION_H_
