// Complex numbers: made of angles, and seen as pairs of real ones.
//
// Source of the rules: torch 2.15, aten/src/ATen/native/ComplexHelper.h
// (view_as_real, view_as_complex), TensorFactories.cpp (polar).
#ifndef FORETELL_GRAPH_OPS_COMPLEX_H_
#define FORETELL_GRAPH_OPS_COMPLEX_H_

#include <span>

#include "graph/builder.h"
#include "graph/operation_row.h"

namespace foretell {

std::span<const OperationRow* const> ComplexOperations();

// Lengths and angles of equal extents, float32 -> complex64.
Tensor Polar(Tensor lengths, Tensor angles);
// [..., 2] float32 -> [...] complex64, a view; and the way back.
Tensor ViewAsComplex(Tensor x);
Tensor ViewAsReal(Tensor x);
// A view that only says that the sign of the second part is the other.
Tensor Conj(Tensor x);

}  // namespace foretell

#endif  // FORETELL_GRAPH_OPS_COMPLEX_H_
