// Operations that make a tensor from numbers, or read one as a number.
//
// Source of the rules: torch 2.15, aten/src/ATen/native/TensorFactories.cpp.
#ifndef FORETELL_GRAPH_OPS_CREATION_H_
#define FORETELL_GRAPH_OPS_CREATION_H_

#include <span>
#include <vector>

#include "graph/builder.h"
#include "graph/operation_row.h"

namespace foretell {

std::span<const OperationRow* const> CreationOperations();

Tensor Arange(Builder& builder, int64_t end,
              DType dtype = DType::kInt64);  // [end]
Tensor ArangeFrom(Builder& builder, int64_t start,
                  int64_t end);  // [end - start], int64
Tensor Zeros(Builder& builder, const Shape& shape, DType dtype);
Tensor Ones(Builder& builder, const Shape& shape, DType dtype);
Tensor ScalarTensor(Builder& builder, double value, DType dtype);  // []
Tensor Empty(Builder& builder, const Shape& shape, DType dtype);
Tensor NewZeros(Tensor x, const Shape& shape);  // in the dtype of x
Tensor NewZerosOf(Tensor x, const Shape& shape, DType dtype);
Tensor NewEmpty(Tensor x, const Shape& shape);
Tensor NewOnes(Tensor x, const Shape& shape, DType dtype);
Tensor ZerosLike(Tensor x);
Tensor ZerosLike(Tensor x, DType dtype);
Tensor OnesLike(Tensor x);
// In the dtype of x, nothing written to it.
Tensor NewEmptyStrided(Tensor x, const Shape& shape, const Shape& strides);
Tensor EmptyLike(Tensor x);
Tensor RandLike(Tensor x);  // random numbers from 0 to 1
// What lies above a diagonal is zero: the main one, or one so many above it.
Tensor Tril(Tensor x, int64_t diagonal = 0);
// What lies below it.
Tensor Triu(Tensor x, int64_t diagonal = 0);
Tensor FullLike(Tensor x, double value, DType dtype);
// torch.tensor(numbers), on the host.
Tensor LiftFresh(Builder& builder, const Shape& shape, DType dtype);
// Python reads the element (bool(), item()); gives no tensor.
void LocalScalar(Tensor x);

}  // namespace foretell

#endif  // FORETELL_GRAPH_OPS_CREATION_H_
