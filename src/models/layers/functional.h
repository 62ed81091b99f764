// What torch.nn.functional and tensor methods execute, where one Python call
// is several operations.
//
// Source: torch 2.15, aten/src/ATen/native/LinearAlgebra.cpp (matmul),
// Linear.cpp (linear), TensorConversions.cpp.
#ifndef FORETELL_MODELS_LAYERS_FUNCTIONAL_H_
#define FORETELL_MODELS_LAYERS_FUNCTIONAL_H_

#include <cstdint>

#include "graph/builder.h"

namespace foretell {

// x.contiguous(): a copy only where it is not row-major already.
Tensor Contiguous(const Tensor& x);
// torch.matmul of [..., m, k] and [..., k, n], whose leading axes are equal or
// 1.
Tensor Matmul(const Tensor& a, const Tensor& b);
// torch.matmul of a matrix [m, k] and [b, k, n].
Tensor MatrixTimesBatch(const Tensor& matrix, const Tensor& batch);
// F.linear: x [..., in], weight [out, in], bias [out] or empty -> [..., out].
Tensor ApplyLinear(const Tensor& x, const Tensor& weight, const Tensor& bias);
// torch.cat((x, y), axis)
Tensor Cat2(const Tensor& x, const Tensor& y, int axis);

// limit * tanh(x / limit), each step replacing the one before.
Tensor SoftCap(Tensor x, double limit);

// torch.repeat_interleave(x, times, dim=-1): each element of the last axis as
// many times in a row.
Tensor RepeatEach(const Tensor& x, int64_t times);

// x[:, start:end] along `axis`: a range that is the whole axis is no range.
Tensor SliceRange(const Tensor& x, int axis, int64_t start, int64_t end);
// torch.finfo(dtype).min, the smallest finite number.
double SmallestOf(DType dtype);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_FUNCTIONAL_H_
