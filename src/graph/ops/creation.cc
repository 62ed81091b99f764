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

constexpr OperationRow kArange = {"aten.arange.default",
                                  "Whole numbers from zero: [end].",
                                  InferCreation,
                                  nullptr,
                                  {},
                                  nullptr,
                                  Differentiable::kNo};
constexpr OperationRow kZeros = {"aten.zeros.default",
                                 "A tensor of zeros.",
                                 InferCreation,
                                 nullptr,
                                 {},
                                 nullptr,
                                 Differentiable::kNo};
constexpr OperationRow kEmpty = {"aten.empty.memory_format",
                                 "A tensor with nothing written to it.",
                                 InferCreation,
                                 nullptr,
                                 {},
                                 nullptr,
                                 Differentiable::kNo};
constexpr OperationRow kNewZeros = {"aten.new_zeros.default",
                                    "Zeros where x lives, of other extents.",
                                    InferNew,
                                    nullptr,
                                    {},
                                    nullptr,
                                    Differentiable::kNo};
constexpr OperationRow kNewOnes = {"aten.new_ones.default",
                                   "Ones where x lives, of other extents.",
                                   InferNew,
                                   nullptr,
                                   {},
                                   nullptr,
                                   Differentiable::kNo};
constexpr OperationRow kOnes = {"aten.ones.default",
                                "A tensor of ones.",
                                InferCreation,
                                nullptr,
                                {},
                                nullptr,
                                Differentiable::kNo};
constexpr OperationRow kTril = {
    "aten.tril.default",
    "x, with zeros above the diagonal of its last axes.",
    InferTril,
    nullptr,
    {},
    GradientOfTril};
constexpr OperationRow kZerosLike = {"aten.zeros_like.default",
                                     "Zeros of the extents of x.",
                                     InferLike,
                                     nullptr,
                                     {},
                                     nullptr,
                                     Differentiable::kNo};
constexpr OperationRow kOnesLike = {"aten.ones_like.default",
                                    "Ones of the extents of x.",
                                    InferLike,
                                    nullptr,
                                    {},
                                    nullptr,
                                    Differentiable::kNo};
constexpr OperationRow kNewEmptyStrided = {
    "aten.new_empty_strided.default",
    "A tensor of these extents and strides where x lives, not filled.",
    InferNewStrided,
    nullptr,
    {},
    nullptr,
    Differentiable::kNo};
constexpr OperationRow kEmptyLike = {
    "aten.empty_like.default",
    "A tensor of the extents of x, not filled.",
    InferLike,
    nullptr,
    {},
    nullptr,
    Differentiable::kNo};
constexpr OperationRow kFullLike = {
    "aten.full_like.default",
    "A number at every element of the extents of x.",
    InferLike,
    nullptr,
    {},
    nullptr,
    Differentiable::kNo};
constexpr OperationRow kLiftFresh = {"aten.lift_fresh.default",
                                     "Python's own numbers as a tensor.",
                                     InferLike,
                                     nullptr,
                                     {},
                                     nullptr,
                                     Differentiable::kNo};
constexpr OperationRow kScalarTensor = {"aten.scalar_tensor.default",
                                        "One number: [].",
                                        InferCreation,
                                        nullptr,
                                        {},
                                        nullptr,
                                        Differentiable::kNo};
constexpr OperationRow kLocalScalar = {
    "aten._local_scalar_dense.default",
    "One element read by Python; gives no tensor.",
    InferNothing,
    nullptr,
    {},
    nullptr,
    Differentiable::kNo};

constexpr std::array kRows = {
    &kArange,   &kZeros,     &kScalarTensor, &kLocalScalar, &kEmpty,
    &kNewZeros, &kZerosLike, &kFullLike,     &kEmptyLike,   &kLiftFresh,
    &kNewOnes,  &kOnes,      &kTril,         &kOnesLike,    &kNewEmptyStrided};

}  // namespace

std::span<const OperationRow* const> CreationOperations() { return kRows; }

Tensor Arange(Builder& builder, int64_t end, DType dtype) {
  return builder.Emit(kArange, {}, {Shape{end}, dtype});
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

Tensor Ones(Builder& builder, const Shape& shape, DType dtype) {
  return builder.Emit(kOnes, {}, {shape, dtype});
}

Tensor NewOnes(Tensor x, const Shape& shape, DType dtype) {
  return x.builder().Emit(kNewOnes, {std::move(x)}, {shape, dtype});
}

Tensor Tril(Tensor x) { return x.builder().Emit(kTril, {std::move(x)}); }

Tensor ZerosLike(Tensor x) {
  const DType dtype = x.dtype();
  return x.builder().Emit(kZerosLike, {std::move(x)}, {dtype});
}

Tensor OnesLike(Tensor x) {
  const DType dtype = x.dtype();
  return x.builder().Emit(kOnesLike, {std::move(x)}, {dtype});
}

Tensor NewEmptyStrided(Tensor x, const Shape& shape, const Shape& strides) {
  return x.builder().Emit(kNewEmptyStrided, {std::move(x)}, {shape, strides});
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
