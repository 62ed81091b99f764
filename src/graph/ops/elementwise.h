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

Tensor Add(Tensor x, Tensor y);
Tensor AddScalar(Tensor x, double y);
Tensor Sub(Tensor x, Tensor y);
Tensor SubScalar(Tensor x, double y);
Tensor Mul(Tensor x, Tensor y);
Tensor MulScalar(Tensor x, double y);
// What ATen's own code adds; AddScalar is what Python does.
Tensor AddNumber(Tensor x, double y);
// What ATen's own code multiplies by; MulScalar is what Python does.
Tensor MulNumber(Tensor x, double y);
Tensor RsubScalar(Tensor x, double y);  // y - x
Tensor Neg(Tensor x);
Tensor Sign(Tensor x);
Tensor Ceil(Tensor x);
Tensor Floor(Tensor x);
Tensor PowScalar(Tensor x, double exponent);
Tensor Rsqrt(Tensor x);
Tensor Cos(Tensor x);
Tensor Sin(Tensor x);
Tensor Silu(Tensor x);
// Another dtype, laid out as before; the same tensor where nothing changes.
Tensor To(Tensor x, DType dtype);
// The same on another device; always a copy.
// x.to(dtype, memory_format=torch.contiguous_format): row by row where it is
// copied, which it also is where it seems to lie channels last.
Tensor ToContiguous(Tensor x, DType dtype);
Tensor Transfer(Tensor x);
Tensor EqScalar(Tensor x, double y);
Tensor Eq(Tensor x, Tensor y);
Tensor NeScalar(Tensor x, double y);
Tensor Le(Tensor x, Tensor y);
Tensor LeScalar(Tensor x, double y);
Tensor Lt(Tensor x, Tensor y);
Tensor Div(Tensor x, Tensor y);
Tensor DivScalar(Tensor x, double y);
// What ATen's own code divides by; DivScalar is what Python does.
Tensor DivNumber(Tensor x, double y);
// Whole numbers, rounded down.
Tensor FloorDivide(Tensor x, int64_t y);
Tensor Abs(Tensor x);
Tensor Exp(Tensor x);
Tensor Expm1(Tensor x);  // exp(x) - 1
Tensor Log(Tensor x);
Tensor Minimum(Tensor x, Tensor y);
Tensor LogicalOr(Tensor x, Tensor y);
Tensor LogicalAnd(Tensor x, Tensor y);
Tensor ClampFrom(Tensor x, Tensor least);  // from below; without a backward
Tensor ClampBetween(Tensor x, Tensor least, Tensor most);
Tensor LtScalar(Tensor x, double y);
Tensor GtScalar(Tensor x, double y);
Tensor Gt(Tensor x, Tensor y);
Tensor Ge(Tensor x, Tensor y);
// Whole numbers or bool, bit by bit.
Tensor BitwiseAnd(Tensor x, Tensor y);
Tensor BitwiseOr(Tensor x, Tensor y);
Tensor BitwiseNot(Tensor x);
Tensor IsInf(Tensor x);
// A copy of x with `value` where `mask` is true.
Tensor MaskedFill(Tensor x, Tensor mask, double value);
Tensor Where(Tensor condition, Tensor x, Tensor y);

}  // namespace foretell

#endif  // FORETELL_GRAPH_OPS_ELEMENTWISE_H_
