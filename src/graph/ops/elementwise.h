// Operations on each element, with broadcasting and type promotion.
//
// Layout of results: graph/strides.h. Promotion: torch 2.15,
// c10/core/ScalarType.h; a Python number never changes a tensor's category.
#ifndef FORETELL_GRAPH_OPS_ELEMENTWISE_H_
#define FORETELL_GRAPH_OPS_ELEMENTWISE_H_

#include <span>
#include <vector>

#include "graph/builder.h"
#include "graph/operation_row.h"

namespace foretell {

std::span<const OperationRow* const> ElementwiseOperations();

// The dtype that two tensors of one category promote to.
DType PromoteTypes(DType a, DType b);

Tensor Add(const Tensor& x, const Tensor& y);
Tensor AddScalar(const Tensor& x, double y);
Tensor Sub(const Tensor& x, const Tensor& y);
Tensor SubScalar(const Tensor& x, double y);
Tensor Mul(const Tensor& x, const Tensor& y);
Tensor MulScalar(const Tensor& x, double y);
// What ATen's own code multiplies by; MulScalar is what Python does.
Tensor MulNumber(const Tensor& x, double y);
Tensor Neg(const Tensor& x);
Tensor PowScalar(const Tensor& x, double exponent);
Tensor Rsqrt(const Tensor& x);
Tensor Cos(const Tensor& x);
Tensor Sin(const Tensor& x);
Tensor Silu(const Tensor& x);
// Another dtype, laid out as before; the same tensor where nothing changes.
Tensor To(const Tensor& x, DType dtype);
// The same on another device; always a copy.
Tensor Transfer(const Tensor& x);
Tensor EqScalar(const Tensor& x, double y);
Tensor NeScalar(const Tensor& x, double y);
Tensor Le(const Tensor& x, const Tensor& y);
Tensor DivScalar(const Tensor& x, double y);
// Whole numbers, rounded down.
Tensor FloorDivide(const Tensor& x, int64_t y);
Tensor Abs(const Tensor& x);
Tensor Log(const Tensor& x);
Tensor Minimum(const Tensor& x, const Tensor& y);
Tensor ClampBetween(const Tensor& x, const Tensor& least, const Tensor& most);
Tensor LtScalar(const Tensor& x, double y);
Tensor GtScalar(const Tensor& x, double y);
Tensor Gt(const Tensor& x, const Tensor& y);
Tensor Ge(const Tensor& x, const Tensor& y);
// Whole numbers or bool, bit by bit.
Tensor BitwiseAnd(const Tensor& x, const Tensor& y);
Tensor IsInf(const Tensor& x);
Tensor Where(const Tensor& condition, const Tensor& x, const Tensor& y);

}  // namespace foretell

#endif  // FORETELL_GRAPH_OPS_ELEMENTWISE_H_
