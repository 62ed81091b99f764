#include "graph/ops/in_place.h"

#include <array>
#include <vector>

#include "graph/strides.h"

namespace foretell {
namespace {

std::string InferInPlace(const OperationArguments& args,
                         std::vector<OperationOutput>& outputs) {
  const Value& target = args.input(0);
  for (size_t i = 1; i < args.input_count(); ++i) {
    const Shape& other = args.input(i).shape;
    if (BroadcastShapes(target.shape, other) != target.shape) {
      return other.ToString() + " does not go into " + target.shape.ToString();
    }
  }
  outputs.push_back({target.shape, target.strides, target.dtype, 0});
  return "";
}

std::string InferIndexPut(const OperationArguments& args,
                          std::vector<OperationOutput>& outputs) {
  const Value& target = args.input(0);
  const Shape& index = args.input(1).shape;
  if (target.shape.rank() == 0 || index.rank() != 1) {
    return index.ToString() + " does not index " + target.shape.ToString();
  }
  outputs.push_back({target.shape, target.strides, target.dtype, 0});
  return "";
}

constexpr OperationRow kAdd = {"aten.add_.Tensor", "x += y.", InferInPlace};
constexpr OperationRow kDiv = {"aten.div_.Tensor", "x /= y.", InferInPlace};
constexpr OperationRow kIndexPut = {
    "aten.index_put_.default",
    "Values written at whole numbers along the first axis.", InferIndexPut};
constexpr OperationRow kMul = {"aten.mul_.Tensor", "x *= y.", InferInPlace};
constexpr OperationRow kUniform = {
    "aten.uniform_.default", "Random numbers written over all elements.",
    InferInPlace};
constexpr OperationRow kCopy = {
    "aten.copy_.default", "y written over the elements of x.", InferInPlace};
constexpr OperationRow kFill = {
    "aten.fill_.Scalar", "A number written over all elements.", InferInPlace};
constexpr OperationRow kMaskedFill = {
    "aten.masked_fill_.Scalar",
    "A number written where a mask of the same extents is true.", InferInPlace};

constexpr std::array kRows = {&kAdd, &kCopy, &kFill, &kMaskedFill, &kDiv, &kIndexPut,
                              &kMul, &kUniform};

}  // namespace

std::span<const OperationRow* const> InPlaceOperations() { return kRows; }

Tensor AddInto(const Tensor& target, const Tensor& other) {
  return target.builder().Emit(kAdd, {target, other});
}
Tensor MulInto(const Tensor& target, const Tensor& other) {
  return target.builder().Emit(kMul, {target, other});
}
Tensor FillUniform(const Tensor& target) {
  return target.builder().Emit(kUniform, {target});
}
Tensor DivInto(const Tensor& target, const Tensor& other) {
  return target.builder().Emit(kDiv, {target, other});
}
Tensor IndexPut(const Tensor& target, const Tensor& index,
                const Tensor& values) {
  return target.builder().Emit(kIndexPut, {target, index, values});
}
Tensor CopyInto(const Tensor& target, const Tensor& source) {
  return target.builder().Emit(kCopy, {target, source});
}
Tensor FillWith(const Tensor& target, double value) {
  return target.builder().Emit(kFill, {target}, {value});
}
Tensor FillWhere(const Tensor& target, const Tensor& mask, double value) {
  return target.builder().Emit(kMaskedFill, {target, mask}, {value});
}

}  // namespace foretell
