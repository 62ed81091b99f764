// Linear layers that multiply in 8-bit floats, as a compiled step holds them.
//
// In: a compiled graph and the recipe. Changed: the bytes of what linear layers
// keep. Out: by operation, what is cast for it.
//
// Transformer Engine: a layer keeps its input in fp8 instead of half precision,
// by columns, and its weight in fp8 twice, by rows and by columns, from its
// forward to its backward. The weight itself stays in half precision.
// Source: NVIDIA/TransformerEngine 2.8, pytorch/module/linear.py
// (_Linear.forward: quantized input and weightmat are saved),
// tensor/float8_tensor.py.
// torchao: a layer keeps its input and weight as they are; both, and the
// gradient in the backward, are cast for each product.
// Source: torchao 0.18, float8/float8_linear.py (matmul_with_hp_or_float8_args
// saves the high-precision tensors).
#ifndef FORETELL_PASSES_FP8_LINEARS_H_
#define FORETELL_PASSES_FP8_LINEARS_H_

#include <cstdint>
#include <vector>

#include "graph/graph.h"
#include "spec/training_job.h"

namespace foretell {

// `kept` says of each storage whether it lives past the forward.
std::vector<int64_t> CastLinears(Graph& graph, Fp8 recipe,
                                 const std::vector<bool>& kept);

}  // namespace foretell

#endif  // FORETELL_PASSES_FP8_LINEARS_H_
