// Matrix products.
//
// FLOPs: torch 2.15, torch/utils/flop_counter.py (mm_flop, addmm_flop,
// bmm_flop): 2 m k n, a bias costs nothing.
#ifndef FORETELL_GRAPH_OPS_MATMUL_H_
#define FORETELL_GRAPH_OPS_MATMUL_H_

#include <span>
#include <utility>
#include <vector>

#include "graph/builder.h"
#include "graph/operation_row.h"

namespace foretell {

std::span<const OperationRow* const> MatmulOperations();

// [m, k] x [k, n] -> [m, n]
Tensor Mm(Tensor a, Tensor b);
// bias [n] or [m, n], plus the product.
Tensor Addmm(Tensor bias, Tensor a, Tensor b);
// bias [batch, m, n], plus alpha times the product of batches.
Tensor Baddbmm(Tensor bias, Tensor a, Tensor b, double alpha = 1);
// Rows [m, k] in consecutive groups, whose ends `offsets` [groups] holds, each
// with its own factor of [groups, k, n] -> [m, n]; or [m, k] x [k, n] with k in
// groups -> [groups, m, n]. torch.utils.flop_counter leaves it out; its FLOPs
// are those of the products that it stands for.
Tensor GroupedMm(Tensor rows, Tensor factors, Tensor offsets);
// The same as an operator of transformers' own, and its gradients of both.
Tensor GroupedFallback(Tensor rows, Tensor factors, Tensor offsets);
std::pair<Tensor, Tensor> GroupedFallbackBackward(Tensor rows, Tensor factors,
                                                  Tensor offsets, Tensor grad);
// [batch, m, k] x [batch, k, n] -> [batch, m, n]
Tensor Bmm(Tensor a, Tensor b);

// What x gives b [..., m, n] as the product of a [..., m, m] and x: of a
// triangle of `a` only, below the diagonal or above, whose diagonal is taken
// as ones. The result lies column by column.
Tensor SolveTriangular(Tensor a, Tensor b, bool upper);

}  // namespace foretell

#endif  // FORETELL_GRAPH_OPS_MATMUL_H_
