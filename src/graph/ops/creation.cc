#include "graph/ops/creation.h"

#include <array>
#include <utility>

#include "graph/ops/creation_gradient.h"
#include "graph/strides.h"

namespace foretell {
namespace {

using Outputs = std::vector<OperationOutput>;

std::string InferCreation(const OperationArguments& args, Outputs& outputs) {
  const Shape& shape = args.Sizes(0);
  outputs.push_back({shape, ContiguousStrides(shape), args.Type(1), -1});
  return "";
}

// Of the extents and layout of input 0.
std::string InferLike(const OperationArguments& args, Outputs& outputs) {
  const Value& x = args.input(0);
  const Value* const inputs[] = {&x};
  outputs.push_back(
      {x.shape, ElementwiseStrides(inputs, x.shape), args.Type(0), -1});
  return "";
}

std::string InferNew(const OperationArguments& args, Outputs& outputs) {
  const Shape& shape = args.Sizes(0);
  outputs.push_back({shape, ContiguousStrides(shape), args.Type(1), -1});
  return "";
}

std::string InferNewStrided(const OperationArguments& args, Outputs& outputs) {
  outputs.push_back({args.Sizes(0), args.Sizes(1), args.input(0).dtype, -1});
  return "";
}

std::string InferTril(const OperationArguments& args, Outputs& outputs) {
  const Value& x = args.input(0);
  if (x.shape.rank() < 2) return x.shape.ToString() + " has no diagonal";
  outputs.push_back({x.shape, ContiguousStrides(x.shape), x.dtype, -1});
  return "";
}

std::string InferNothing(const OperationArguments& args, Outputs&) {
  if (args.input(0).shape.Elements() == 1) return "";
  return args.input(0).shape.ToString() + " is not one element";
}

constexpr OperationRow kArange = {.name = "aten.arange.default",
                                  .doc = "Whole numbers from zero: [end].",
                                  .infer = InferCreation,
                                  .differentiable = Differentiable::kNo};
constexpr OperationRow kArangeStart = {
    .name = "aten.arange.start",
    .doc = "Whole numbers from start to end.",
    .infer = InferCreation,
    .differentiable = Differentiable::kNo};
constexpr OperationRow kRandLike = {
    .name = "aten.rand_like.default",
    .doc = "Random numbers from 0 to 1 at every element of the extents of x.",
    .infer = InferLike,
    .differentiable = Differentiable::kNo};
constexpr OperationRow kZeros = {.name = "aten.zeros.default",
                                 .doc = "A tensor of zeros.",
                                 .infer = InferCreation,
                                 .differentiable = Differentiable::kNo};
constexpr OperationRow kEmpty = {.name = "aten.empty.memory_format",
                                 .doc = "A tensor with nothing written to it.",
                                 .infer = InferCreation,
                                 .differentiable = Differentiable::kNo};
constexpr OperationRow kNewZeros = {
    .name = "aten.new_zeros.default",
    .doc = "Zeros where x lives, of other extents.",
    .infer = InferNew,
    .differentiable = Differentiable::kNo};
constexpr OperationRow kNewEmpty = {
    .name = "aten.new_empty.default",
    .doc =
        "A tensor where x lives, of other extents; nothing is written to it.",
    .infer = InferNew,
    .differentiable = Differentiable::kNo};
constexpr OperationRow kNewOnes = {
    .name = "aten.new_ones.default",
    .doc = "Ones where x lives, of other extents.",
    .infer = InferNew,
    .differentiable = Differentiable::kNo};
constexpr OperationRow kOnes = {.name = "aten.ones.default",
                                .doc = "A tensor of ones.",
                                .infer = InferCreation,
                                .differentiable = Differentiable::kNo};
constexpr OperationRow kTril = {
    .name = "aten.tril.default",
    .doc = "x, with zeros above a diagonal of its last axes.",
    .infer = InferTril,
    .gradient = GradientOfTril};
// Here of a mask only.
constexpr OperationRow kTriu = {
    .name = "aten.triu.default",
    .doc = "x, with zeros below a diagonal of its last axes.",
    .infer = InferTril,
    .differentiable = Differentiable::kNo};
constexpr OperationRow kZerosLike = {.name = "aten.zeros_like.default",
                                     .doc = "Zeros of the extents of x.",
                                     .infer = InferLike,
                                     .differentiable = Differentiable::kNo};
constexpr OperationRow kOnesLike = {.name = "aten.ones_like.default",
                                    .doc = "Ones of the extents of x.",
                                    .infer = InferLike,
                                    .differentiable = Differentiable::kNo};
constexpr OperationRow kNewEmptyStrided = {
    .name = "aten.new_empty_strided.default",
    .doc = "A tensor of these extents and strides where x lives, not filled.",
    .infer = InferNewStrided,
    .differentiable = Differentiable::kNo};
constexpr OperationRow kEmptyLike = {
    .name = "aten.empty_like.default",
    .doc = "A tensor of the extents of x, not filled.",
    .infer = InferLike,
    .differentiable = Differentiable::kNo};
constexpr OperationRow kFullLike = {
    .name = "aten.full_like.default",
    .doc = "A number at every element of the extents of x.",
    .infer = InferLike,
    .differentiable = Differentiable::kNo};
constexpr OperationRow kLiftFresh = {.name = "aten.lift_fresh.default",
                                     .doc = "Python's own numbers as a tensor.",
                                     .infer = InferLike,
                                     .differentiable = Differentiable::kNo};
constexpr OperationRow kScalarTensor = {.name = "aten.scalar_tensor.default",
                                        .doc = "One number: [].",
                                        .infer = InferCreation,
                                        .differentiable = Differentiable::kNo};
constexpr OperationRow kLocalScalar = {
    .name = "aten._local_scalar_dense.default",
    .doc = "One element read by Python; gives no tensor.",
    .infer = InferNothing,
    .differentiable = Differentiable::kNo};

constexpr std::array kRows = {
    &kArange,    &kArangeStart,     &kZeros,     &kScalarTensor, &kLocalScalar,
    &kEmpty,     &kNewZeros,        &kZerosLike, &kFullLike,     &kEmptyLike,
    &kLiftFresh, &kNewOnes,         &kOnes,      &kTril,         &kTriu,
    &kOnesLike,  &kNewEmptyStrided, &kNewEmpty,  &kRandLike};

}  // namespace

std::span<const OperationRow* const> CreationOperations() { return kRows; }

Tensor Arange(Builder& builder, int64_t end, DType dtype) {
  return builder.Emit(kArange, {}, {Shape{end}, dtype});
}

Tensor ArangeFrom(Builder& builder, int64_t start, int64_t end) {
  return builder.Emit(kArangeStart, {},
                      {Shape{end - start}, DType::kInt64, start});
}

Tensor Zeros(Builder& builder, const Shape& shape, DType dtype) {
  return builder.Emit(kZeros, {}, {shape, dtype});
}

Tensor ScalarTensor(Builder& builder, double value, DType dtype) {
  return builder.Emit(kScalarTensor, {}, {Shape{}, dtype, value});
}

Tensor Empty(Builder& builder, const Shape& shape, DType dtype) {
  return builder.Emit(kEmpty, {}, {shape, dtype});
}

Tensor NewZeros(Tensor x, const Shape& shape) {
  const DType dtype = x.dtype();
  return x.builder().Emit(kNewZeros, {std::move(x)}, {shape, dtype});
}

Tensor NewZerosOf(Tensor x, const Shape& shape, DType dtype) {
  return x.builder().Emit(kNewZeros, {std::move(x)}, {shape, dtype});
}

Tensor NewEmpty(Tensor x, const Shape& shape) {
  const DType dtype = x.dtype();
  return x.builder().Emit(kNewEmpty, {std::move(x)}, {shape, dtype});
}

Tensor Ones(Builder& builder, const Shape& shape, DType dtype) {
  return builder.Emit(kOnes, {}, {shape, dtype});
}

Tensor NewOnes(Tensor x, const Shape& shape, DType dtype) {
  return x.builder().Emit(kNewOnes, {std::move(x)}, {shape, dtype});
}

Tensor Tril(Tensor x, int64_t diagonal) {
  return x.builder().Emit(kTril, {std::move(x)}, {diagonal});
}

Tensor Triu(Tensor x, int64_t diagonal) {
  return x.builder().Emit(kTriu, {std::move(x)}, {diagonal});
}

Tensor ZerosLike(Tensor x) {
  const DType dtype = x.dtype();
  return x.builder().Emit(kZerosLike, {std::move(x)}, {dtype});
}

Tensor ZerosLike(Tensor x, DType dtype) {
  return x.builder().Emit(kZerosLike, {std::move(x)}, {dtype});
}

Tensor OnesLike(Tensor x) {
  const DType dtype = x.dtype();
  return x.builder().Emit(kOnesLike, {std::move(x)}, {dtype});
}

Tensor NewEmptyStrided(Tensor x, const Shape& shape, const Shape& strides) {
  return x.builder().Emit(kNewEmptyStrided, {std::move(x)}, {shape, strides});
}

Tensor RandLike(Tensor x) {
  const DType dtype = x.dtype();
  return x.builder().Emit(kRandLike, {std::move(x)}, {dtype});
}

Tensor EmptyLike(Tensor x) {
  const DType dtype = x.dtype();
  return x.builder().Emit(kEmptyLike, {std::move(x)}, {dtype});
}

Tensor FullLike(Tensor x, double value, DType dtype) {
  return x.builder().Emit(kFullLike, {std::move(x)}, {dtype, value});
}

Tensor LiftFresh(Builder& builder, const Shape& shape, DType dtype) {
  return builder.Emit(kLiftFresh, {builder.Constant(shape, dtype)}, {dtype});
}

void LocalScalar(Tensor x) {
  const Tensor held = std::move(x);
  held.builder().EmitMany(kLocalScalar, std::span(&held, 1), {});
}

}  // namespace foretell
