#include "graph/ops/complex.h"

#include <array>
#include <utility>

#include "graph/ops/complex_gradient.h"
#include "graph/strides.h"

namespace foretell {
namespace {

using Outputs = std::vector<OperationOutput>;

std::string InferPolar(const OperationArguments& args, Outputs& outputs) {
  const Value& angles = args.input(1);
  if (args.input(0).shape != angles.shape) {
    return "lengths " + args.input(0).shape.ToString() + " of angles " +
           angles.shape.ToString();
  }
  outputs.push_back(
      {angles.shape, ContiguousStrides(angles.shape), DType::kComplex64, -1});
  return "";
}

std::string InferViewAsComplex(const OperationArguments& args,
                               Outputs& outputs) {
  const Value& x = args.input(0);
  const int rank = x.shape.rank();
  if (rank == 0 || x.shape[-1] != 2 || x.strides[-1] != 1 ||
      x.dtype != DType::kFloat32) {
    return x.shape.ToString() + " holds no pairs of float32";
  }
  Shape shape;
  Shape strides;
  for (int axis = 0; axis + 1 < rank; ++axis) {
    if (x.strides[axis] % 2 != 0 && x.shape[axis] > 1) {
      return x.shape.ToString() + " has pairs that begin at odd places";
    }
    shape.Append(x.shape[axis]);
    strides.Append(x.strides[axis] / 2);
  }
  outputs.push_back({shape, strides, DType::kComplex64, 0});
  return "";
}

std::string InferViewAsReal(const OperationArguments& args, Outputs& outputs) {
  const Value& x = args.input(0);
  if (x.dtype != DType::kComplex64) return "numbers that are real already";
  Shape shape = x.shape;
  Shape strides;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    strides.Append(x.strides[axis] * 2);
  }
  shape.Append(2);
  strides.Append(1);
  outputs.push_back({shape, strides, DType::kFloat32, 0});
  return "";
}

std::string InferConj(const OperationArguments& args, Outputs& outputs) {
  const Value& x = args.input(0);
  outputs.push_back({x.shape, x.strides, x.dtype, 0});
  return "";
}

constexpr OperationRow kPolar = {
    .name = "aten.polar.default",
    .doc = "Complex numbers of these lengths and angles.",
    .infer = InferPolar,
    // Only positions that take no gradient are turned into such.
    .differentiable = Differentiable::kNo};
constexpr OperationRow kViewAsComplex = {
    .name = "aten.view_as_complex.default",
    .doc = "Pairs along the last axis seen as complex numbers.",
    .infer = InferViewAsComplex,
    .gradient = GradientOfViewAsComplex};
constexpr OperationRow kViewAsReal = {
    .name = "aten.view_as_real.default",
    .doc = "Complex numbers seen as pairs along a new last axis.",
    .infer = InferViewAsReal,
    .gradient = GradientOfViewAsReal};
constexpr OperationRow kConj = {
    .name = "aten._conj.default",
    .doc = "The conjugate, as a mark on the same storage.",
    .infer = InferConj,
    .gradient = GradientOfConj};

constexpr std::array kRows = {&kPolar, &kViewAsComplex, &kViewAsReal, &kConj};

}  // namespace

std::span<const OperationRow* const> ComplexOperations() { return kRows; }

Tensor Polar(Tensor lengths, Tensor angles) {
  return lengths.builder().Emit(kPolar,
                                {std::move(lengths), std::move(angles)});
}
Tensor ViewAsComplex(Tensor x) {
  return x.builder().Emit(kViewAsComplex, {std::move(x)});
}
Tensor ViewAsReal(Tensor x) {
  return x.builder().Emit(kViewAsReal, {std::move(x)});
}
Tensor Conj(Tensor x) { return x.builder().Emit(kConj, {std::move(x)}); }

}  // namespace foretell
